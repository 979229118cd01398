//! Recovery of operations from a journal that a crash may have damaged.

use super::VERSION;
use crate::base::{Error, Result};
use crate::document::{AssetRef, Operation};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Maximum size of a journal that recovery reads, bytes.
const MAX_BYTES: u64 = 4 << 30;
/// Length of the checksum's hexadecimal digits and the space after them.
const PREFIX: usize = 17;
/// Initial value of the checksum chain.
pub(super) const HEADER_CHAIN: u64 = 0x7369_6e65_775f_6a31;

#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub sinew_journal: u32,
    pub asset: AssetRef,
}

/// Result of reading a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovered {
    /// Asset of the session; `None` if the header is missing or torn.
    pub asset: Option<AssetRef>,
    /// Recovered operations, in order.
    pub operations: Vec<Operation>,
    /// Unreadable tail of the file.
    pub torn: Option<Torn>,
    pub(super) length: u64,
    pub(super) chain: u64,
}

/// The part of a journal after its last complete record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Byte offset of the tail.
    pub offset: u64,
    /// Length of the tail, bytes.
    pub bytes: u64,
    /// Complete lines in the tail. 0 means that the tail is one unfinished record. A larger number means that the file
    /// is damaged or holds operations of a newer version of Sinew.
    pub lines: usize,
    /// Reason why the tail cannot be read.
    pub reason: String,
}

/// Returns the checksum of a record, chained to the checksum of the previous record.
pub(super) fn checksum(chain: u64, json: &[u8]) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&chain.to_le_bytes());
    hash.update(json);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// Reads a journal up to its first incomplete record. Does not change the file.
///
/// # Errors
/// The file cannot be read, is not a journal, or has a newer version.
pub fn recover(path: &Path) -> Result<Recovered> {
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    if size > MAX_BYTES {
        return Err(Error::broken(path, "file", format!("it has {size} bytes"), "choose a journal file"));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    recover_bytes(path, &bytes)
}

pub(super) fn recover_bytes(path: &Path, bytes: &[u8]) -> Result<Recovered> {
    let not_ours = || {
        Error::broken(path, "line 1", "this is no Sinew journal", "choose another file; it was left as it is")
    };
    let looks_right = bytes
        .iter()
        .take(PREFIX)
        .enumerate()
        .all(|(i, b)| if i == PREFIX - 1 { *b == b' ' } else { b.is_ascii_hexdigit() });
    if !looks_right {
        return Err(not_ours());
    }
    let mut out =
        Recovered { asset: None, operations: Vec::new(), torn: None, length: 0, chain: HEADER_CHAIN };
    let mut at = 0;
    while at < bytes.len() {
        match record(&bytes[at..], out.chain) {
            Ok((json, chain, length)) => {
                let taken = if out.asset.is_none() {
                    let header: Header = serde_json::from_slice(json).map_err(|_| not_ours())?;
                    if header.sinew_journal != VERSION {
                        let remedy = format!("this program reads version {VERSION}; use a newer one");
                        let feature = format!("journal version {}", header.sinew_journal);
                        return Err(Error::unsupported(path, feature, remedy));
                    }
                    out.asset = Some(header.asset);
                    Ok(())
                } else {
                    serde_json::from_slice(json).map(|o| out.operations.push(o))
                };
                if let Err(e) = taken {
                    out.torn = Some(torn(bytes, at, format!("unknown operation: {e}")));
                    break;
                }
                out.chain = chain;
                at += length;
            }
            Err(reason) => {
                // A complete first line with a wrong checksum means a foreign file, not a torn header.
                if out.asset.is_none() && bytes.contains(&b'\n') {
                    return Err(not_ours());
                }
                out.torn = Some(torn(bytes, at, reason.into()));
                break;
            }
        }
    }
    out.length = at as u64;
    Ok(out)
}

/// Parses the record at the start of `bytes`. Returns its JSON, its checksum, and its length including the newline.
fn record(bytes: &[u8], chain: u64) -> std::result::Result<(&[u8], u64, usize), &'static str> {
    let end = bytes.iter().position(|&b| b == b'\n').ok_or("the record has no end")?;
    let line = &bytes[..end];
    let (digits, json) = line.split_at_checked(PREFIX).ok_or("the record is too short")?;
    let digits = std::str::from_utf8(&digits[..PREFIX - 1]).map_err(|_| "the checksum is no text")?;
    let stated = u64::from_str_radix(digits, 16).map_err(|_| "the checksum is no number")?;
    let actual = checksum(chain, json);
    if stated != actual || line[PREFIX - 1] != b' ' {
        return Err("the checksum does not match");
    }
    Ok((json, actual, end + 1))
}

fn torn(bytes: &[u8], at: usize, reason: String) -> Torn {
    let tail = &bytes[at..];
    let lines = tail.iter().filter(|&&b| b == b'\n').count();
    Torn { offset: at as u64, bytes: tail.len() as u64, lines, reason }
}
