//! The `sinew` program: parses arguments and runs a front end.

mod cli;

use clap::Parser;

fn main() -> std::process::ExitCode {
    match cli::Cli::parse().run().and_then(|()| sinew::app::context::said()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sinew: {error}");
            // Scripts tell "no headset" from what is wrong with a file.
            match error {
                sinew::base::Error::Xr { .. } => std::process::ExitCode::from(3),
                _ => std::process::ExitCode::FAILURE,
            }
        }
    }
}
