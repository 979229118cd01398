use super::*;
use crate::base::math::{Quat, Turn, Vec3};
use crate::document::Edit;
use crate::pose::Fingers;
use crate::scene::SurfaceSample;
use crate::workbench::{Hand, Rigid, Similarity, Tool, Tracked, Tracking};
use std::path::{Path, PathBuf};

fn start() -> TakeStart {
    let asset = AssetRef { path: "hero.glb".into(), hash: "abc".into() };
    let operations = vec![Operation::Do(Edit::Open { asset: asset.clone() })];
    TakeStart { asset, operations, preferences: Preferences::default(), eye_size: [320, 240] }
}

/// A frame in which all numbers differ.
fn frame(i: u32) -> TakeFrame {
    let mut count = i as f32 * 1000.0;
    let mut next = || {
        count += 1.0;
        count * 0.125
    };
    let mut rigid = || Rigid {
        position: Vec3::new(next(), next(), next()),
        orientation: Quat::from_scaled_axis(Vec3::new(next(), next(), next())),
    };
    let mut tracked = |tracking| Tracked { pose: rigid(), tracking };
    let mut out = TakeFrame::default();
    out.input.time = f64::from(i) / 90.0;
    out.input.head = tracked(Tracking::Tracked);
    out.input.focused = i.is_multiple_of(2);
    let sample = SurfaceSample {
        triangle: i,
        barycentrics: [0.25, 0.5, 0.25],
        position: Vec3::new(0.1, 0.2, 0.3),
        normal: Vec3::Y,
        time: f64::from(i) / 90.0 - 0.01,
        draw: 0.75,
    };
    out.input.hands = [0u32, 1].map(|h| Hand {
        grip: tracked(Tracking::Inferred),
        aim: tracked(Tracking::Lost),
        draw: 0.1 + h as f32 * 0.3,
        grab: 0.2 + h as f32 * 0.3,
        stick: [-0.3, 0.4 + h as f32 * 0.3],
        undo: h == 0,
        redo: h == 1,
        menu: i.is_multiple_of(3),
        on_panel: i.is_multiple_of(4),
        off_skin: i.is_multiple_of(9),
        surface: (i.is_multiple_of(5) && h == 1).then_some(sample),
        fingers: i
            .is_multiple_of(8)
            .then(|| Fingers { bends: [[0.1, i as f32, -0.3]; 5], spreads: [h as f32; 5] }),
    });
    out.input.recentred = i.is_multiple_of(7).then(|| tracked(Tracking::Lost).pose);
    out.input.window = i.is_multiple_of(6).then(|| {
        let Rigid { position: translation, orientation: rotation } = tracked(Tracking::Lost).pose;
        Similarity { translation, rotation, scale: 0.75 }
    });
    out.input.floor = i.is_multiple_of(12).then_some(Turn { angle: i as f32 * 0.01, shift: [0.5, -2.0] });
    out.eyes =
        [0.03, -0.03].map(|x| Eye { pose: tracked(Tracking::Lost).pose, fov: [-0.7 + x, 0.8, 0.6, -0.9] });
    out
}

const MORPH: Command =
    Command::Morph { node: crate::base::NodeId(3), target: 1, weight: 0.3, continues: true };

fn write(path: &Path, frames: u32) {
    let mut recorder = Recorder::new(path, &start()).unwrap();
    for i in 0..frames {
        recorder.frame(&frame(i));
        if i == 3 {
            recorder.command(&Command::Tool(Tool::Skin)).unwrap();
            recorder.command(&MORPH).unwrap();
        }
    }
    recorder.opened(&start()).unwrap();
    recorder.interrupt();
    recorder.finish("hash".into()).unwrap();
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.take");
    (folder, path)
}

#[test]
fn a_take_is_read_as_it_was_recorded() {
    let (_folder, path) = folder();
    write(&path, 200);
    assert!(is_take(&path).unwrap());
    let mut reader = TakeReader::open(&path).unwrap();
    assert_eq!(*reader.start(), start());
    let events: Vec<TakeEvent> = reader.by_ref().map(|e| e.unwrap()).collect();
    assert_eq!(reader.torn(), None);
    let mut expected: Vec<TakeEvent> = (0..200).map(|i| TakeEvent::Frame(Box::new(frame(i)))).collect();
    expected.insert(4, TakeEvent::Command(Command::Tool(Tool::Skin)));
    expected.insert(5, TakeEvent::Command(MORPH));
    expected.push(TakeEvent::Opened(Box::new(start())));
    expected.push(TakeEvent::Interrupt);
    expected.push(TakeEvent::End(TakeEnd { document: "hash".into(), frames: 200 }));
    assert_eq!(events.len(), expected.len());
    for (a, b) in events.iter().zip(&expected) {
        assert_eq!(a, b);
    }
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(bytes < 200 * 400, "{bytes} bytes");
}

#[test]
fn wherever_a_take_is_torn_what_is_before_it_is_read() {
    let (_folder, path) = folder();
    write(&path, 6);
    let whole = std::fs::read(&path).unwrap();
    let mut last = 0;
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let Ok(mut reader) = TakeReader::open(&path) else {
            assert_eq!(last, 0, "the beginning was whole before, at {length} bytes");
            continue;
        };
        let read = reader.by_ref().filter(|e| e.as_ref().map(|_| true).unwrap()).count();
        assert!(reader.torn().is_some() && read >= last, "{length} bytes: {read} after {last}");
        last = read;
    }
    // Frames, two commands, another file, an interruption; only the end record is missing.
    assert_eq!(last, 10);
}

#[test]
fn a_changed_byte_ends_the_take_and_never_changes_what_is_read() {
    let (_folder, path) = folder();
    write(&path, 6);
    let whole = std::fs::read(&path).unwrap();
    let original: Vec<TakeEvent> = TakeReader::open(&path).unwrap().map(|e| e.unwrap()).collect();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        std::fs::write(&path, &bytes).unwrap();
        let Ok(mut reader) = TakeReader::open(&path) else { continue };
        let read: Vec<TakeEvent> = reader.by_ref().map_while(Result::ok).collect();
        assert!(read.len() < original.len(), "byte {at} is not covered");
        assert_eq!(read[..], original[..read.len()]);
        assert!(reader.torn().is_some());
    }
}

/// Reads a take with a single record after the start record.
fn with_record(path: &Path, payload: &[u8]) -> Vec<Result<TakeEvent, String>> {
    drop(Recorder::new(path, &start()).unwrap());
    let mut bytes = std::fs::read(path).unwrap();
    let chain = u64::from_le_bytes(bytes[bytes.len() - 8..].try_into().unwrap());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    bytes.extend(checksum(chain, payload).to_le_bytes());
    std::fs::write(path, bytes).unwrap();
    TakeReader::open(path).unwrap().map(|e| e.map_err(|e| e.to_string())).collect()
}

#[test]
fn whole_records_that_make_no_sense_are_named() {
    let (_folder, path) = folder();
    let mut good = vec![kind::FRAME];
    codec::encode(&frame(5), &mut good);
    assert!(matches!(with_record(&path, &good)[..], [Ok(TakeEvent::Frame(_))]));
    let mut nan = good.clone();
    nan[1..9].copy_from_slice(&f64::NAN.to_le_bytes());
    let mut flags = good.clone();
    flags[9] = 0xff;
    let mut quality = good.clone();
    quality[10] = 9;
    let mut turn = good.clone();
    turn[23..39].fill(0);
    let long = [good.clone(), vec![0]].concat();
    for (payload, says) in [
        (nan, "time is no number"),
        (flags, "unknown flags"),
        (quality, "unknown quality"),
        (turn, "no unit quaternion"),
        (long, "too long"),
        (good[..40].to_vec(), "too short"),
        (vec![kind::COMMAND, b'{'], "EOF"),
        (vec![77, 1, 2], "no record of kind 77"),
    ] {
        let read = with_record(&path, &payload);
        let [Err(error)] = &read[..] else { panic!("{says}: {read:?}") };
        assert!(error.contains(says) && error.contains("a.take"), "{error}");
    }
}

#[test]
fn what_is_no_take_is_told_from_one() {
    let (_folder, path) = folder();
    for (bytes, says) in [
        (&b"0123456789abcdef {}"[..], "not a take"),
        (b"", "not a take"),
        (b"sinewtk\0\xff\0\0\0", "version 255"),
        (b"sinewtk\0\x01\0\0\0\xff\xff\xff\xff\x00", "4294967295 bytes"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = TakeReader::open(&path).err().unwrap().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_recording_that_is_cut_off_keeps_its_frames() {
    let (_folder, path) = folder();
    let mut recorder = Recorder::new(&path, &start()).unwrap();
    (0..20).for_each(|i| recorder.frame(&frame(i)));
    drop(recorder);
    let mut reader = TakeReader::open(&path).unwrap();
    assert_eq!(reader.by_ref().filter(|e| matches!(e, Ok(TakeEvent::Frame(_)))).count(), 20);
    assert!(reader.torn().unwrap().reason.contains("no end"));
}

#[test]
fn a_disk_that_refuses_is_told_at_the_end_and_stops_nothing() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let mut recorder = Recorder::new(full, &start()).unwrap();
    (0..500).for_each(|i| recorder.frame(&frame(i)));
    assert!(recorder.finish("hash".into()).unwrap_err().to_string().contains("/dev/full"));
}

#[test]
fn eyes_see_what_their_angles_enclose() {
    let eye =
        Eye { pose: Rigid { position: Vec3::new(0.0, 1.6, 2.0), ..Rigid::default() }, ..Eye::default() };
    let room = Similarity { scale: 2.0, translation: Vec3::new(1.0, 0.0, 0.0), ..Similarity::default() };
    let view = eye.view(&room).unwrap();
    assert_eq!(view.eye, Vec3::new(1.0, 3.2, 4.0));
    let [u, v] = view.project(Vec3::new(1.0, 3.2, 0.0)).unwrap();
    assert!((u - 0.5).abs() < 1e-5 && (v - 0.5).abs() < 1e-5);
    let [u, _] = view.project(Vec3::new(5.0, 3.2, 0.0)).unwrap();
    assert!((u - 1.0).abs() < 1e-4, "45 degrees to the right is the edge: {u}");
    assert!(Eye { fov: [0.5, 0.5, 0.2, -0.2], ..eye }.view(&room).is_none());
    assert!(Eye { fov: [-2.0, 0.5, 0.2, -0.2], ..eye }.view(&room).is_none());
}
