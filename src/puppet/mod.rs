//! A simulated headset with controllers, moved by a program: a client of the `remote` driver of a Monado runtime that
//! `tools/xr-runtime` started. The tests, the demonstration and `tools/xr-puppet` use it.
//!
//! Only [`Puppet::connect`] reads a clock. The caller passes the time step of each motion, so that a test can keep
//! the motion in step with the frames that the tested program reports.
//!
//! Because the runtime is a real one, a test that passes here also passes with a headset's runtime. The runtime
//! consists of Debian 13 packages, unpacked into a cache folder and run under their own dynamic loader, and needs no
//! root rights, display or container. A test advances a script by frames, not by a clock: it sends the next state only
//! after a frame has used the last state.

mod packet;
mod player;
mod script;

pub use packet::{Buttons, Controller, Eye, PuppetState, SIZE};
pub use player::Player;
pub use script::{GRAMMAR, Script};

use crate::base::{Error, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A connection to the driver, with the state to send.
pub struct Puppet {
    stream: TcpStream,
    /// The state that the next [`Puppet::send`] sends to the driver.
    pub state: PuppetState,
}

impl Puppet {
    /// Connects to the driver on this machine and sends [`PuppetState::default`]. Retries for five seconds, because the
    /// service opens its TCP port shortly after its socket.
    pub fn connect(port: u16) -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let begin = Instant::now();
        let stream = loop {
            match TcpStream::connect_timeout(&address, Duration::from_secs(1)) {
                Ok(stream) => break stream,
                Err(e) if begin.elapsed() > Duration::from_secs(5) => return Err(refused(port, &e)),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        Self::over(stream).map_err(|e| refused(port, &e))
    }

    fn over(mut stream: TcpStream) -> std::io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        // The driver first sends its resting state and its latest state. Their headers are zero until a client has
        // sent a state.
        for _ in 0..2 {
            let mut greeting = [0; SIZE];
            stream.read_exact(&mut greeting)?;
            if greeting[..8] != [0; 8] && PuppetState::from_bytes(&greeting).is_none() {
                return Err(std::io::Error::new(
                    ErrorKind::InvalidData,
                    "it speaks another version of the protocol",
                ));
            }
        }
        let mut puppet = Self { stream, state: PuppetState::default() };
        puppet.write()?;
        Ok(puppet)
    }

    /// Sends [`Puppet::state`] to the driver; the runtime applies it from its next frame on.
    pub fn send(&mut self) -> Result<()> {
        self.write().map_err(|e| {
            Error::input(
                format!("the OpenXR runtime no longer takes the puppet's state: {e}"),
                "connect again",
            )
        })
    }

    fn write(&mut self) -> std::io::Result<()> {
        self.stream.write_all(&self.state.to_bytes())
    }
}

fn refused(port: u16, reason: &std::io::Error) -> Error {
    Error::input(
        format!("no remote driver of an OpenXR runtime on port {port}: {reason}"),
        "start one by tools/xr-runtime start, which prints its port",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Starts a fake driver that sends `greeting` twice and then returns the `packets` packets that it receives.
    fn driver(greeting: [u8; SIZE], packets: usize) -> (u16, std::thread::JoinHandle<Vec<[u8; SIZE]>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&greeting).unwrap();
            stream.write_all(&greeting).unwrap();
            let packet = |_| {
                let mut bytes = [0; SIZE];
                stream.read_exact(&mut bytes).unwrap();
                bytes
            };
            (0..packets).map(packet).collect()
        });
        (port, thread)
    }

    #[test]
    fn the_driver_gets_whole_states_in_order() {
        let mut greeting = PuppetState::default().to_bytes();
        greeting[..8].fill(0);
        let (port, driver) = driver(greeting, 3);
        let mut puppet = Puppet::connect(port).unwrap();
        puppet.state.hands[1].trigger = 0.5;
        puppet.send().unwrap();
        puppet.state.hands[0].active = false;
        puppet.send().unwrap();
        let got: Vec<PuppetState> =
            driver.join().unwrap().iter().map(|p| PuppetState::from_bytes(p).unwrap()).collect();
        assert_eq!(got[0], PuppetState::default());
        assert_eq!((got[1].hands[1].trigger, got[1].hands[0].active), (0.5, true));
        assert_eq!((got[2].hands[1].trigger, got[2].hands[0].active), (0.5, false));
    }

    #[test]
    fn another_service_on_that_port_is_told_apart() {
        let (port, driver) = driver([7; SIZE], 0);
        let error = Puppet::connect(port).err().unwrap().to_string();
        assert!(error.contains("another version") && error.contains(&port.to_string()), "{error}");
        driver.join().unwrap();
    }
}
