//! Runs all scenarios with the same initial state in one session, and reopens the file before each scenario. The
//! session also checks that the program does not leak memory.

use super::bed::Runtime;
use super::stage::Session;
use super::{body, details, drawing, grips, palette, review, shaping, travel, trouble};
use std::time::Instant;

type Scenario = fn(&mut Session, &Runtime);

/// The order matters: the palette scenario expects the initial palette page, and recentring moves the room.
const SCENARIOS: [(&str, Scenario); 18] = [
    ("the palette", palette::the_palette_is_pressed_by_the_other_hands_ray),
    ("details", details::settings_poses_and_history_are_on_the_details_panel),
    ("an accent stroke", shaping::an_accent_stroke_in_the_air_swells_what_is_behind_it),
    ("grips", grips::six_points_move_a_bare_mesh_which_plays_and_reopens),
    ("an offset stroke", grips::a_mark_gets_an_offset_stroke_with_surroundings_and_its_knot_is_dragged),
    ("fingers", travel::tracked_fingers_pose_those_of_a_person),
    ("methods", review::methods_are_compared_on_one_pose_and_the_body_is_looked_at_from_all_sides),
    ("a line of action", drawing::a_line_of_action_bends_the_body),
    ("undo and redo", drawing::undo_and_redo_are_one_press_each),
    ("the left hand", drawing::the_left_hand_draws_as_well),
    ("lost tracking", drawing::a_stroke_outlives_lost_tracking_and_takes_no_sample_from_it),
    ("two hands", body::two_hands_take_hold_of_the_body),
    ("the world", body::the_world_is_pulled_and_scaled_and_no_document_changes),
    ("a ring", body::a_ring_is_drawn_round_a_limb_by_hand_motion_alone),
    ("jumps and views", travel::the_free_hand_jumps_and_flies_and_a_kept_view_comes_back),
    ("a recording", travel::a_grab_is_recorded_and_plays),
    ("taken off", trouble::a_headset_taken_off_saves_the_document_and_goes_on_when_put_on),
    ("recentring", drawing::recentring_moves_the_view_and_no_document),
];

/// Number of scenarios before the first memory reading. These run every kind of job, which fills the caches.
const FIRST: usize = 7;
/// Maximum growth of memory after the first reading, bytes.
const GROWTH: u64 = 8 << 20;

/// Returns the minimum length of the session in frames, from `SINEW_HEADSET_FRAMES`; default 0.
fn frames() -> u64 {
    std::env::var("SINEW_HEADSET_FRAMES").ok().and_then(|n| n.parse().ok()).unwrap_or_default()
}

#[test]
fn scenarios_that_start_alike_pass_in_one_session_that_does_not_grow() {
    let Some((runtime, mut s)) = Session::start(&[]) else { return };
    let fresh = s.app.hash();
    let mut start = None;
    loop {
        for (i, (name, scenario)) in SCENARIOS.into_iter().enumerate() {
            println!("{name}: from frame {}", s.app.frame.frame);
            let begin = Instant::now();
            s.reopen(&fresh);
            let memory = s.app.memory();
            if i >= FIRST {
                start.get_or_insert(memory);
            }
            println!("{name}: {} MiB", memory >> 20);
            scenario(&mut s, &runtime);
            println!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
            assert_eq!(s.app.frame.missed, 0, "{name}");
        }
        if s.app.frame.frame >= frames() {
            break;
        }
    }
    s.reopen(&fresh);
    let (start, end) = (start.expect("more scenarios"), s.app.memory());
    println!("{} frames: {} MiB, then {} MiB", s.app.frame.frame, start >> 20, end >> 20);
    assert!(end < start + GROWTH, "memory grew from {start} to {end}");
    s.end(&runtime);
}
