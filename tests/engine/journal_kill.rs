//! `kill -9` at random moments of a session: every acknowledged edit is in the journal afterwards.
//!
//! The writer is this very test program, started again with [`JOURNAL`] set. It acknowledges each edit on its
//! standard output after the journal has taken it; the parent kills it after a random number of them, without
//! warning, wherever it is by then.

use sinew::base::NodeId;
use sinew::base::math::{Trs, Vec3};
use sinew::document::recover;
use sinew::document::{AssetRef, Edit, Journal, Operation, Recovered, Session};
use sinew::pose::{Sample, Stroke, StrokeLayer};
use sinew::rig::{Joint, RigNode, Skeleton};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Environment variable with the journal's path for the writer process.
const JOURNAL: &str = "SINEW_TEST_JOURNAL";
const KILLS: u64 = 100;

fn asset() -> AssetRef {
    AssetRef { path: "chain.glb".into(), hash: "ab".repeat(32) }
}

/// Returns a straight chain of 20 joints.
fn skeleton() -> Arc<Skeleton> {
    let mut skeleton = Skeleton::default();
    for i in 0..20_usize {
        let translation = if i == 0 { [0.0; 3] } else { [0.1, 0.0, 0.0] };
        skeleton.nodes.push(RigNode {
            name: format!("joint {i}"),
            parent: i.checked_sub(1).map(NodeId::from),
            rest: Trs { translation, ..Trs::IDENTITY },
            remainder: None,
            weights: Vec::new(),
            targets: Vec::new(),
            joint: Some(i.into()),
        });
        skeleton.order.push(i.into());
        skeleton.joints.push(Joint {
            node: i.into(),
            joint_from_bind: Default::default(),
            bind_from_joint: Default::default(),
            parent: None,
            skinned: true,
        });
    }
    Arc::new(skeleton)
}

/// Applies the next operation: a sample of a stroke, a redrawn offset, a pose, an undo.
fn next(session: &Session, n: usize) -> Operation {
    let wave = |k: usize| {
        let x = k as f32 / 40.0 * 1.9;
        Sample::at(Vec3::new(x, 0.2 * (x * 3.0 + n as f32).sin(), 0.0), k as f64 / 90.0)
    };
    let stroke = || Stroke::from_knots((0..40).map(wave).collect()).expect("a stroke");
    match n % 8 {
        _ if n == 0 => Operation::Do(Edit::Open { asset: asset() }),
        1..=3 => Operation::Drawing((0..25).map(wave).collect()),
        4 => {
            let id = session.document().unused_stroke_id();
            let layer = StrokeLayer::new(id, stroke(), 1.0, (session.skeleton(), &[]), &session.posed());
            let layer = layer.expect("joints within the brush").with_offset(stroke());
            Operation::Do(Edit::AddStroke { index: None, layer: Box::new(layer) })
        }
        5 => Operation::Do(Edit::SetPose(session.posed())),
        6 => Operation::Undo,
        7 => Operation::Do(Edit::Rename(format!("name {n}"))),
        _ => Operation::Do(Edit::RedrawOffset {
            id: session.document().strokes()[0].id,
            offset: Some(stroke()),
        }),
    }
}

fn session() -> Session<'static> {
    Session::new(Box::new(|_| Ok(skeleton())))
}

#[test]
#[ignore = "the writer that the other test starts and kills"]
fn writer() {
    let Some(path) = std::env::var_os(JOURNAL) else { return };
    let (journal, _) = Journal::open(Path::new(&path), &asset()).expect("a new journal");
    let mut session = session();
    session.record_in(journal);
    let mut out = std::io::stdout().lock();
    for n in 0.. {
        let operation = next(&session, n);
        session.run(operation).expect("an operation that applies");
        assert!(session.trouble().is_none());
        // If the parent has ended, writing fails and this process ends too.
        if writeln!(out, "\nack {n}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Starts the writer, kills it after acknowledgement number `after`, and returns its last acknowledgement.
fn write_and_kill(path: &Path, after: usize) -> usize {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "journal_kill::writer", "--nocapture", "--test-threads=1"])
        .env(JOURNAL, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the writer starts");
    let mut acknowledged = None;
    let mut killed = false;
    for line in BufReader::new(child.stdout.take().expect("its output")).lines() {
        // The kill can cut a line; an incomplete line does not count.
        let Ok(line) = line else { break };
        if let Some(n) = line.strip_prefix("ack ").and_then(|n| n.parse::<usize>().ok())
            && acknowledged.is_none_or(|a| n == a + 1)
        {
            acknowledged = Some(n);
            if n >= after && !killed {
                // SIGKILL on Unix. Lines that are still in the pipe count as acknowledged.
                child.kill().expect("the kill");
                killed = true;
            }
        }
    }
    let status = child.wait().expect("its end");
    assert!(killed && !status.success(), "the writer ended by itself: {status}");
    acknowledged.expect("an acknowledgement")
}

/// Returns the writer's session after its first `count` operations.
fn expected(count: usize) -> (Session<'static>, Vec<Operation>) {
    let mut session = session();
    let mut operations = Vec::new();
    for n in 0..count {
        let operation = next(&session, n);
        session.run(operation.clone()).expect("an operation that applies");
        operations.push(operation);
    }
    (session, operations)
}

#[test]
fn killed_at_any_moment_no_acknowledged_edit_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = 0x5eed_1234_u64;
    for run in 0..KILLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let path = folder.path().join(format!("{run}.journal"));
        let acknowledged = write_and_kill(&path, (random >> 33) as usize % 20);
        let Recovered { asset: of, operations, .. } = recover(&path).expect("a journal");
        assert_eq!(of, Some(asset()));
        assert!(operations.len() > acknowledged, "run {run}: {} of {acknowledged}", operations.len());
        let (session, done) = expected(operations.len());
        assert_eq!(operations, done, "run {run}");
        // The next start opens the journal, since a dead process holds no lock, and continues.
        let (mut journal, recovered) = Journal::open(&path, &asset()).expect("the journal opens");
        let replayed =
            Session::replay(&recovered.operations, Box::new(|_| Ok(skeleton()))).expect("a replay");
        assert_eq!(replayed.document().hash(), session.document().hash());
        assert_eq!(replayed.unfinished(), session.unfinished());
        journal.append(&Operation::Undo).expect("one more");
        drop(journal);
        assert_eq!(recover(&path).expect("a journal").torn, None);
    }
}
