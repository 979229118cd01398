//! Long sessions.

use super::stage::Session;

/// Frames in all, and those before memory is looked at.
const FRAMES: [u64; 2] = [10_000, 500];

#[test]
fn ten_thousand_frames_of_work_leave_memory_as_it_is() {
    let Some((runtime, mut s)) = Session::start(&[]) else { return };
    let mut start = None;
    while s.app.frame.frame < FRAMES[0] {
        // Work that leaves the document as it was, so that what grows is no document.
        s.bend("right");
        for _ in 0..2 {
            s.play("right press a");
            s.app.frames(1);
            s.play("right release a\nleft stick 1 0\nleft stick 0 0\nleft stick -1 0\nleft stick 0 0");
        }
        assert_eq!(s.app.frame.missed, 0);
        if s.app.frame.frame > FRAMES[1] && start.is_none() {
            start = Some(s.app.memory());
        }
        let count = (FRAMES[0] - s.app.frame.frame.min(FRAMES[0])).min(400);
        s.app.frames(count);
    }
    let (start, end) = (start.unwrap(), s.app.memory());
    println!("{} frames: {} MiB, then {} MiB", s.app.frame.frame, start >> 20, end >> 20);
    assert!(end < start + (8 << 20), "memory grew from {start} to {end}");
    s.end(&runtime);
}
