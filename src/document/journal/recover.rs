//! Reading a journal back, whatever state a crash left it in.

use super::VERSION;
use crate::base::{Error, Result};
use crate::document::{AssetRef, Operation};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A journal of this size is read in one go; more no session writes.
const MAX_BYTES: u64 = 4 << 30;
/// Hexadecimal digits of a checksum and the space behind it.
const PREFIX: usize = 17;
/// What the header's checksum starts from.
pub(super) const HEADER_CHAIN: u64 = 0x7369_6e65_775f_6a31;

#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub sinew_journal: u32,
    pub asset: AssetRef,
}

/// What a journal holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovered {
    /// The file it is about; `None` if the header itself is missing or torn.
    pub asset: Option<AssetRef>,
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// What follows them and is not whole.
    pub torn: Option<Torn>,
    pub(super) length: u64,
    pub(super) chain: u64,
}

/// The end of a journal that is no whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Byte offset at which it begins.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Whole lines in it: 0 for a record that was being written; more mean damage, or operations of a newer program.
    pub lines: usize,
    /// Why it could not be read.
    pub reason: String,
}

/// The chained checksum of a record.
pub(super) fn checksum(chain: u64, json: &[u8]) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&chain.to_le_bytes());
    hash.update(json);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// Reads a journal up to its first record that is not whole. The file is not changed.
///
/// # Errors
/// An unreadable file, one that is no journal, a journal of a newer version.
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
                // A whole first line with a wrong checksum is somebody else's file, not a torn header.
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

/// The record at the start of `bytes`: its JSON, the chain after it, its length with the line's end.
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
