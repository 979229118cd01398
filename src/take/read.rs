//! Reads takes record by record, so that neither long nor malicious files exhaust memory.

use super::{MAGIC, Rules, TakeEvent, TakeStart, VERSION, checksum, codec, kind, longest};
use crate::base::{Error, Result};
use crate::document::AssetRef;
use crate::workbench::Preferences;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Whether a file starts with the magic number of a take.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read.
pub fn is_take(path: &Path) -> Result<bool> {
    let mut first = Vec::new();
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    file.take(MAGIC.len() as u64).read_to_end(&mut first).map_err(|e| Error::io(path, e))?;
    Ok(first == MAGIC)
}

/// The place at which a take is damaged or incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTake {
    /// Byte offset of the damaged record.
    pub offset: u64,
    /// Description of the damage.
    pub reason: String,
}

/// Iterator over the events of a take. Stops at the end of the take or at a damaged record, see [`Self::torn`]. An
/// intact record with invalid content is an error.
pub struct TakeReader {
    path: PathBuf,
    file: BufReader<File>,
    version: u32,
    start: TakeStart,
    chain: u64,
    offset: u64,
    frames: u64,
    time: f64,
    torn: Option<TornTake>,
    done: bool,
}

impl TakeReader {
    /// Opens a take.
    ///
    /// # Errors
    /// If the file is unreadable, not a take, of a newer version, or has a damaged first record.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |e| Error::io(path, e);
        let broken = |problem: &str, remedy: &str| Error::broken(path, "beginning", problem, remedy);
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let mut head = Vec::new();
        (&mut file).take(12).read_to_end(&mut head).map_err(io)?;
        let Some((magic, version)) = head.split_first_chunk::<8>().filter(|(m, _)| **m == MAGIC) else {
            return Err(broken("the file is not a take", "give a file that --record wrote"));
        };
        let _ = magic;
        let version = <[u8; 4]>::try_from(version).map(u32::from_le_bytes).unwrap_or(0);
        if !(1..=VERSION).contains(&version) {
            return Err(Error::Unsupported {
                path: path.to_owned(),
                feature: format!("version {version} of the format"),
                remedy: format!("this program reads versions 1 to {VERSION}"),
            });
        }
        let mut reader = Self {
            path: path.to_owned(),
            file,
            version,
            start: TakeStart {
                asset: AssetRef { path: String::new(), hash: String::new() },
                operations: Vec::new(),
                preferences: Preferences::default(),
                eye_size: [0; 2],
            },
            chain: 0,
            offset: 12,
            frames: 0,
            time: f64::NEG_INFINITY,
            torn: None,
            done: false,
        };
        match reader.record()? {
            Some(payload) if payload[0] == kind::START => reader.start = reader.json(&payload[1..])?,
            Some(_) => return Err(broken("it does not say what the take was made on", "record it again")),
            None => {
                let reason = reader.torn.take().map_or_else(String::new, |t| t.reason);
                return Err(broken(&reason, "the file holds no complete record: record the take again"));
            }
        }
        Ok(reader)
    }

    /// Initial state of the take.
    pub fn start(&self) -> &TakeStart {
        &self.start
    }

    /// Rules of the take's format version.
    pub(crate) fn rules(&self) -> Rules {
        match self.version {
            1 => Rules::First,
            2 => Rules::Second,
            3 => Rules::Third,
            4 => Rules::Fourth,
            5 => Rules::Fifth,
            6 => Rules::Sixth,
            7 => Rules::Seventh,
            8 => Rules::Eighth,
            9 => Rules::Ninth,
            10 => Rules::Tenth,
            11 => Rules::Eleventh,
            12 => Rules::Twelfth,
            13 => Rules::Thirteenth,
            _ => Rules::Now,
        }
    }

    /// Number of frames read so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The damage that stopped reading, if any.
    pub fn torn(&self) -> Option<&TornTake> {
        self.torn.as_ref()
    }

    fn tear(&mut self, reason: impl Into<String>) -> Option<Vec<u8>> {
        self.torn = Some(TornTake { offset: self.offset, reason: reason.into() });
        self.done = true;
        None
    }

    /// Reads the next intact record's payload, including its kind; `None` at the end or at damaged data.
    fn record(&mut self) -> Result<Option<Vec<u8>>> {
        let mut read = |length: u64| -> Result<Vec<u8>> {
            let mut out = Vec::new();
            (&mut self.file).take(length).read_to_end(&mut out).map_err(|e| Error::io(&self.path, e))?;
            Ok(out)
        };
        let head = read(5)?;
        let Some((length, &[kind])) = head
            .split_first_chunk::<4>()
            .map(|(l, k)| (l, <&[u8; 1]>::try_from(k)))
            .and_then(|(l, k)| Some((u32::from_le_bytes(*l), k.ok()?)))
        else {
            return Ok(self.tear(if head.is_empty() { "there is no end" } else { "a record is torn" }));
        };
        if length == 0 || length > longest(kind) {
            return Ok(self.tear(format!("a record of kind {kind} says it has {length} bytes")));
        }
        let mut payload = vec![kind];
        payload.extend(read(u64::from(length) - 1)?);
        let sum = read(8)?;
        let Ok(sum) = <[u8; 8]>::try_from(&sum[..]) else { return Ok(self.tear("a record is torn")) };
        let chain = checksum(self.chain, &payload);
        if payload.len() != length as usize || u64::from_le_bytes(sum) != chain {
            return Ok(self.tear("a record does not match its checksum"));
        }
        self.chain = chain;
        self.offset += 4 + u64::from(length) + 8;
        Ok(Some(payload))
    }

    fn broken(&self, problem: impl Into<String>) -> Error {
        let at = format!("frame {}, byte {}", self.frames, self.offset);
        Error::broken(&self.path, at, problem, "it was not written by this program: record it again")
    }

    fn json<T: DeserializeOwned>(&self, json: &[u8]) -> Result<T> {
        serde_json::from_slice(json).map_err(|e| self.broken(e.to_string()))
    }

    fn event(&mut self, payload: &[u8]) -> Result<TakeEvent> {
        let rest = &payload[1..];
        Ok(match payload[0] {
            kind::FRAME => {
                self.frames += 1;
                let frame = codec::decode(rest).map_err(|problem| self.broken(problem))?;
                if frame.input.time < self.time {
                    return Err(self.broken("time runs backwards"));
                }
                self.time = frame.input.time;
                TakeEvent::Frame(Box::new(frame))
            }
            kind::COMMAND => TakeEvent::Command(self.json(rest)?),
            kind::SHAPE => TakeEvent::Shape(Box::new(self.json(rest)?)),
            kind::BONES => TakeEvent::Bones(Box::new(self.json(rest)?)),
            kind::CAGE => TakeEvent::Cage(Box::new(self.json(rest)?)),
            kind::COUPLED => TakeEvent::Coupled,
            kind::OPENED => TakeEvent::Opened(Box::new(self.json(rest)?)),
            kind::INTERRUPT => TakeEvent::Interrupt,
            kind::END => TakeEvent::End(self.json(rest)?),
            other => return Err(self.broken(format!("there is no record of kind {other}"))),
        })
    }
}

impl Iterator for TakeReader {
    type Item = Result<TakeEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let event = match self.record() {
            Ok(Some(payload)) => self.event(&payload),
            Ok(None) => return None,
            Err(error) => Err(error),
        };
        self.done = matches!(event, Ok(TakeEvent::End(_)) | Err(_));
        Some(event)
    }
}
