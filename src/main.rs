//! The `sinew` program: parses arguments and runs a front end.

mod cli;

use clap::Parser;

fn main() -> std::process::ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sinew: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
