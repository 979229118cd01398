//! Controls a simulated headset by a script or interactively; `tools/xr-puppet` runs this program.

use clap::Parser;
use sinew::base::{Error, Result};
use sinew::puppet::{GRAMMAR, Player, Puppet, Script};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Moves the headset and controllers of an OpenXR runtime that tools/xr-runtime started.
#[derive(Parser)]
#[command(after_help = GRAMMAR)]
struct Arguments {
    /// Path of the script; without it, or with -, reads lines from standard input and runs each at once
    script: Option<PathBuf>,
    /// TCP port of the remote driver
    #[arg(long, default_value_t = 4242)]
    port: u16,
    /// Number of states sent per second
    #[arg(long, default_value_t = 60.0, value_parser = rate)]
    rate: f64,
}

fn rate(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|r: &f64| (1.0..=1000.0).contains(r)).ok_or_else(|| "write 1 to 1000".into())
}

fn main() -> std::process::ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xr-puppet: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let script = arguments.script.as_deref().filter(|p| *p != Path::new("-"));
    // Parse the script before anything moves.
    let script = script.map(Script::load).transpose()?;
    let mut puppet = Puppet::connect(arguments.port)?;
    match script {
        Some(script) => play(&mut puppet, script, arguments.rate),
        None => {
            let input = Path::new("standard input");
            for line in std::io::stdin().lock().lines() {
                match Script::read(&line.map_err(|e| Error::io(input, e))?, input) {
                    Ok(script) => play(&mut puppet, script, arguments.rate)?,
                    Err(error) => eprintln!("xr-puppet: {error}"),
                }
            }
            Ok(())
        }
    }
}

/// Plays a script in real time, `rate` states per second.
fn play(puppet: &mut Puppet, script: Script, rate: f64) -> Result<()> {
    let mut player = Player::new(script);
    let (step, begin) = (1.0 / rate, Instant::now());
    let mut frame = 0_u32;
    while player.advance(step, &mut puppet.state) {
        puppet.send()?;
        frame += 1;
        let due = begin + Duration::from_secs_f64(f64::from(frame) * step);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(())
}
