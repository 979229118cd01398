use super::recover::recover_bytes;
use super::*;
use crate::base::Random;
use crate::document::testing::{asset, session, work};
use crate::document::{Edit, Session};
use crate::pose::Sample;
use crate::rig::tree;
use std::sync::{Arc, Mutex};

/// Writes `count` random operations to a journal; returns the operations and the file length after each.
fn written(path: &Path, count: usize) -> (Vec<Operation>, Vec<u64>, String) {
    let (mut journal, recovered) = Journal::open(path, &asset()).unwrap();
    assert!(recovered.operations.is_empty());
    let mut s = session();
    let operations = work(&mut s, &mut Random::new(17), count);
    let mut ends = Vec::new();
    for operation in &operations {
        journal.append(operation).unwrap();
        ends.push(std::fs::metadata(path).unwrap().len());
    }
    (operations, ends, s.document().hash())
}

fn replayed(operations: &[Operation]) -> String {
    let skeleton = Arc::new(tree().0);
    Session::replay(operations, Box::new(move |_| Ok(skeleton.clone()))).unwrap().document().hash()
}

#[test]
fn what_was_written_is_read_back_and_replays_to_the_same_hash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/a.journal");
    let (operations, _, hash) = written(&path, 60);
    let recovered = recover(&path).unwrap();
    assert_eq!(recovered.asset, Some(asset()));
    assert_eq!(recovered.operations, operations);
    assert_eq!(recovered.torn, None);
    assert_eq!(replayed(&recovered.operations), hash);
}

#[test]
fn torn_at_every_byte_it_keeps_every_whole_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.journal");
    let (operations, ends, _) = written(&path, 12);
    let bytes = std::fs::read(&path).unwrap();
    let header = recover_bytes(&path, &bytes[..0]).unwrap();
    assert!(header.asset.is_none() && header.torn.is_none());
    for cut in 1..=bytes.len() {
        let recovered = recover_bytes(&path, &bytes[..cut]).unwrap();
        let whole = ends.iter().filter(|&&end| end <= cut as u64).count();
        assert_eq!(recovered.operations, operations[..whole], "cut at {cut}");
        let at_boundary = ends.contains(&(cut as u64)) || recovered.length == cut as u64;
        assert_eq!(recovered.torn.is_none(), at_boundary, "cut at {cut}");
    }
    // Cut the file, reopen it and append: the torn tail is gone and new records follow the old records.
    let mut random = Random::new(4);
    for _ in 0..40 {
        let cut = 1 + (random.unit() * (bytes.len() - 1) as f32) as usize;
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (mut journal, recovered) = Journal::open(&path, &asset()).unwrap();
        journal.append(&Operation::Undo).unwrap();
        drop(journal);
        let again = recover(&path).unwrap();
        assert_eq!(again.asset, Some(asset()));
        assert_eq!(again.torn, None);
        let mut expected = recovered.operations;
        expected.push(Operation::Undo);
        assert_eq!(again.operations, expected);
    }
}

#[test]
fn a_changed_byte_anywhere_ends_the_journal_there_and_nothing_wrong_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.journal");
    let (operations, ends, _) = written(&path, 6);
    let bytes = std::fs::read(&path).unwrap();
    let header_end = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    for at in header_end..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x04;
        let recovered = recover_bytes(&path, &changed).unwrap();
        let whole = ends.iter().filter(|&&end| end <= at as u64).count();
        // The hexadecimal digits of a checksum may be upper or lower case.
        let expected = if recovered.torn.is_none() { &operations[..] } else { &operations[..whole] };
        assert_eq!(recovered.operations, *expected, "byte {at}");
    }
    // If complete lines follow the damage, opening the journal keeps a copy of the file.
    let mut changed = bytes.clone();
    changed[ends[1] as usize + 20] ^= 0x04;
    std::fs::write(&path, &changed).unwrap();
    let (_journal, recovered) = Journal::open(&path, &asset()).unwrap();
    assert_eq!(recovered.operations.len(), 2);
    assert_eq!(std::fs::read(path.with_extension("torn")).unwrap(), changed);
}

#[test]
fn foreign_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    for content in ["Dear reader,\n", "{\"a\": 1}", "0123456789abcdef {}\n", "\n", "\u{0}\u{1}"] {
        std::fs::write(&path, content).unwrap();
        let error = Journal::open(&path, &asset()).err().unwrap().to_string();
        assert!(error.contains("no Sinew journal"), "{content:?}: {error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    let json = format!(r#"{{"sinew_journal":2,"asset":{}}}"#, serde_json::to_string(&asset()).unwrap());
    let line = format!("{:016x} {json}\n", checksum(HEADER_CHAIN, json.as_bytes()));
    std::fs::write(&path, line).unwrap();
    assert!(Journal::open(&path, &asset()).err().unwrap().to_string().contains("version 2"));
}

#[test]
fn two_holders_get_two_journals_and_the_ended_one_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let first = Journal::create_for(folder.path(), &asset()).unwrap();
    let second = Journal::create_for(folder.path(), &asset()).unwrap();
    assert_ne!(first.path(), second.path());
    assert!(is_in_use(&Journal::open(first.path(), &asset()).err().unwrap()));
    assert!(is_in_use(&discard_journal(first.path()).unwrap_err()));
    assert!(unfinished_journals(folder.path()).unwrap().is_empty());
    let path = first.path().to_owned();
    drop(first);
    assert_eq!(unfinished_journals(folder.path()).unwrap(), vec![path.clone()]);
    let second_path = second.path().to_owned();
    second.discard().unwrap();
    assert!(!second_path.exists());
    // A new session leaves the unfinished journal alone.
    let third = Journal::create_for(folder.path(), &asset()).unwrap();
    assert_eq!(third.path(), second_path);
    assert_eq!(unfinished_journals(folder.path()).unwrap(), vec![path.clone()]);
    discard_journal(&path).unwrap();
    assert!(unfinished_journals(folder.path()).unwrap().is_empty() && third.path().exists());
    assert!(unfinished_journals(&folder.path().join("none")).unwrap().is_empty());
}

/// A disk of limited size, which writes what fits and then fails.
#[derive(Clone, Default)]
struct SmallDisk(Arc<Mutex<(Vec<u8>, usize)>>);

impl Sink for SmallDisk {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        let room = disk.1.saturating_sub(disk.0.len()).min(bytes.len());
        disk.0.extend_from_slice(&bytes[..room]);
        if room < bytes.len() { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> std::io::Result<()> {
        self.0.lock().unwrap().0.truncate(length as usize);
        Ok(())
    }

    fn handle(&self) -> std::io::Result<File> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let disk = SmallDisk::default();
    disk.0.lock().unwrap().1 = 5000;
    let mut journal = Journal {
        path: "full.journal".into(),
        sink: Box::new(disk.clone()),
        length: 0,
        dirty: false,
        chain: HEADER_CHAIN,
        pending: Vec::new(),
        unsynced: 0,
    };
    journal.start(&asset()).unwrap();
    let mut s = session();
    s.record_in(journal);
    let mut done = work(&mut s, &mut Random::new(8), 30);
    let trouble = s.trouble().unwrap().to_string();
    assert!(trouble.contains("full.journal") && trouble.contains("still in memory"), "{trouble}");
    let on_disk = recover_bytes(Path::new("x"), &disk.0.lock().unwrap().0).unwrap();
    assert!(on_disk.operations.len() < 30 && on_disk.operations == done[..on_disk.operations.len()]);
    // After space is freed, the next operation also writes all pending records.
    disk.0.lock().unwrap().1 = usize::MAX;
    let last = Operation::Do(Edit::Rename("after".into()));
    s.run(last.clone()).unwrap();
    done.push(last);
    assert!(s.trouble().is_none());
    let on_disk = recover_bytes(Path::new("x"), &disk.0.lock().unwrap().0).unwrap();
    assert_eq!((on_disk.operations, on_disk.torn), (done, None));
}

#[test]
fn an_unfinished_stroke_is_offered_and_no_part_of_the_document() {
    let mut s = session();
    let mut operations = work(&mut s, &mut Random::new(2), 5);
    let hash = s.document().hash();
    let samples: Vec<Sample> =
        (0..30).map(|i| Sample { time: f64::from(i) / 90.0, ..Sample::default() }).collect();
    for part in samples.chunks(7) {
        operations.push(Operation::Drawing(part.to_vec()));
    }
    let skeleton = Arc::new(tree().0);
    let s = Session::replay(&operations, Box::new(move |_| Ok(skeleton.clone()))).unwrap();
    assert_eq!((s.unfinished(), s.document().hash()), (&samples[..], hash));
}

#[test]
fn journals_live_in_the_state_folder() {
    let env = |pairs: &'static [(&str, &str)]| {
        move |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).into())
    };
    let folder = journal_folder(env(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")])).unwrap();
    assert_eq!(folder, Path::new("/s/sinew/journal"));
    let folder = journal_folder(env(&[("XDG_STATE_HOME", "relative"), ("HOME", "/h")])).unwrap();
    assert_eq!(folder, Path::new("/h/.local/state/sinew/journal"));
    assert!(journal_folder(env(&[])).unwrap_err().to_string().contains("HOME"));
    let name = journal_path(&folder, &asset(), 2).file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("héro-") && name.ends_with("-2.journal"), "{name}");
}

#[test]
fn syncing_beside_the_frames_writes_the_same_and_keeps_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.journal");
    let (mut journal, _) = Journal::open(&path, &asset()).unwrap();
    journal.sync_in_background().unwrap();
    let operations: Vec<Operation> = (0..40).map(|i| Operation::Do(Edit::Rename(format!("{i}")))).collect();
    for operation in &operations {
        journal.append(operation).unwrap();
        // Appended records are visible to readers at once, so they survive a crash of this program.
        assert_eq!(recover(&path).unwrap().operations.last(), Some(operation));
    }
    assert!(is_in_use(&Journal::open(&path, &asset()).err().unwrap()));
    journal.sync().unwrap();
    drop(journal);
    let (_, recovered) = Journal::open(&path, &asset()).unwrap();
    assert_eq!((recovered.operations, recovered.torn), (operations, None));
}
