//! Long sessions. `SINEW_HEADSET_FRAMES=10000` makes them as long as the promise is; every run of the tests does fewer,
//! since a frame takes the software driver tens of milliseconds.

use super::stage::Session;

/// Frames before memory is looked at.
const FIRST: u64 = 500;

/// Frames in all.
fn frames() -> u64 {
    let asked = std::env::var("SINEW_HEADSET_FRAMES").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(1000).max(2 * FIRST)
}

#[test]
fn frames_of_work_leave_memory_as_it_is() {
    let all = frames();
    let Some((runtime, mut s)) = Session::start(&[]) else { return };
    let mut start = None;
    while s.app.frame.frame < all {
        // Work that leaves the document as it was, so that what grows is no document.
        s.bend("right");
        for _ in 0..2 {
            s.play("right press a");
            s.app.frames(1);
            s.play("right release a\nleft stick 1 0\nleft stick 0 0\nleft stick -1 0\nleft stick 0 0");
        }
        assert_eq!(s.app.frame.missed, 0);
        if s.app.frame.frame > FIRST && start.is_none() {
            start = Some(s.app.memory());
        }
        let count = (all - s.app.frame.frame.min(all)).min(400);
        s.app.frames(count);
    }
    let (start, end) = (start.unwrap(), s.app.memory());
    println!("{} frames: {} MiB, then {} MiB", s.app.frame.frame, start >> 20, end >> 20);
    assert!(end < start + (8 << 20), "memory grew from {start} to {end}");
    s.end(&runtime);
}
