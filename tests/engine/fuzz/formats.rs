//! The containers, taken apart and put together again with checksums and lengths that are right, written from the
//! descriptions of the formats.

use super::mutate::{self, Draw};
use serde_json::Value;
use sinew::base::Random;

fn chained(chain: u64, content: &[u8]) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&chain.to_le_bytes());
    hash.update(content);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// Returns a journal's records as JSON, the header first.
pub fn journal_records(content: &[u8]) -> Vec<Value> {
    let lines = content.split(|&b| b == b'\n').filter(|l| l.len() > 17);
    lines.map(|line| serde_json::from_slice(&line[17..]).unwrap()).collect()
}

/// Returns a journal with these records.
pub fn journal(records: &[Value]) -> Vec<u8> {
    let (mut chain, mut out) = (0x7369_6e65_775f_6a31, Vec::new());
    for record in records {
        let json = serde_json::to_vec(record).unwrap();
        chain = chained(chain, &json);
        out.extend(format!("{chain:016x} ").bytes());
        out.extend(json);
        out.push(b'\n');
    }
    out
}

/// Number of bytes of a take before its first record.
const TAKE_HEAD: usize = 12;

/// Returns a take's header and its records, each preceded by its kind.
pub fn take_records(content: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut at, mut records) = (TAKE_HEAD, Vec::new());
    while at + 4 < content.len() {
        let length = u32::from_le_bytes(content[at..at + 4].try_into().unwrap()) as usize;
        records.push(content[at + 4..at + 4 + length].to_vec());
        at += 4 + length + 8;
    }
    (content[..TAKE_HEAD].to_vec(), records)
}

/// Returns a take with these records.
pub fn take(head: &[u8], records: &[Vec<u8>]) -> Vec<u8> {
    let (mut chain, mut out) = (0, head.to_vec());
    for record in records {
        chain = chained(chain, record);
        out.extend((record.len() as u32).to_le_bytes());
        out.extend(record);
        out.extend(chain.to_le_bytes());
    }
    out
}

/// Returns the JSON and the binary chunk of a .glb.
pub fn glb_parts(content: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(content[12..16].try_into().unwrap()) as usize;
    let json = serde_json::from_slice(&content[20..20 + length]).unwrap();
    (json, content.get(20 + length + 8..).unwrap_or_default().to_vec())
}

/// Returns a .glb with these chunks, sometimes with wrong lengths.
pub fn glb(json: &Value, bin: &[u8], random: &mut Random) -> Vec<u8> {
    let mut json = serde_json::to_vec(json).unwrap();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bin = bin.to_vec();
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, chunk) in [(*b"JSON", &json), (*b"BIN\0", &bin)] {
        out.extend((chunk.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(chunk);
    }
    let length = out.len() as u32;
    out[8..12].copy_from_slice(&length.to_le_bytes());
    if random.once_in(12) {
        let second = 20 + json.len();
        let at = *random.pick(&[8, 12, second]);
        let wrong = random.pick(&[0, 4, length - 1, length + 4, 1 << 31, u32::MAX]).to_le_bytes();
        out[at..at + 4].copy_from_slice(&wrong);
    }
    out
}

/// Returns a .gltf with embedded data.
pub fn embedded(json: &Value, bin: &[u8]) -> Vec<u8> {
    let mut json = json.clone();
    let body: String = bin.iter().map(|byte| format!("%{byte:02X}")).collect();
    if let Some(buffer) = json.get_mut("buffers").and_then(|b| b.get_mut(0)).and_then(Value::as_object_mut) {
        buffer.insert("uri".into(), format!("data:application/octet-stream,{body}").into());
    }
    serde_json::to_vec(&json).unwrap()
}

/// Sometimes removes, duplicates or swaps records.
pub fn reorder<T: Clone>(records: &mut Vec<T>, random: &mut Random) {
    if records.is_empty() {
        return;
    }
    let (a, b) = (random.below(records.len()), random.below(records.len()));
    match random.below(8) {
        0 => records.swap(a, b),
        1 => drop(records.remove(a)),
        2 => records.insert(a, records[b].clone()),
        3 => records.truncate(a),
        _ => {}
    }
}

/// Mutates the JSON after a record's kind, or the bytes of a frame.
pub fn mutate_record(record: &mut Vec<u8>, random: &mut Random) {
    match record.get(1..).map(serde_json::from_slice::<Value>) {
        Some(Ok(mut json)) => {
            mutate::tree(&mut json, random);
            record.truncate(1);
            record.extend(serde_json::to_vec(&json).unwrap());
        }
        _ => {
            let mut rest = record.split_off(1.min(record.len()));
            let length = rest.len();
            mutate::bytes(&mut rest, random);
            if !random.once_in(8) {
                rest.resize(length, 0);
            }
            record.extend(rest);
        }
    }
}
