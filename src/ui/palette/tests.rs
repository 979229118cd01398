//! Tests of hands that point, press and scroll on the panels, frame by frame.

use super::*;
use crate::base::math::{Quat, Vec2};
use crate::document::DopeSheet;
use crate::workbench::{
    CommandKind, Control, Labels, Notice, Preferences, RADIUS_RANGE, Rigid, Timeline, Tool, Tracked, Tracking,
};

/// Panels with the input of a user's head and hands.
pub(super) struct Room {
    pub panels: Panels,
    /// What the details panel shows.
    pub bench: Option<Workbench>,
    pub state: PanelState,
    pub input: Input,
    pub tool: usize,
    pub commands: Vec<Command>,
    felt: Vec<Haptic>,
}

pub(super) fn tracked(position: [f32; 3]) -> Tracked {
    let pose = Rigid { position: position.into(), orientation: Quat::IDENTITY };
    Tracked { pose, tracking: Tracking::Tracked }
}

fn file(name: &str, kind: FileKind) -> FileEntry {
    FileEntry { path: name.into(), name: name.into(), note: "1 MB".into(), kind }
}

/// Returns a state in which every item can be pressed.
fn full_state() -> PanelState {
    PanelState {
        preferences: Preferences { palette: true, ..Preferences::default() },
        undo: 3,
        redo: 1,
        strokes: 2,
        redraw: true,
        can_cancel: true,
        timeline: Timeline {
            length: 2.0,
            sheet: DopeSheet { rate: 24, columns: vec![0.0, 1.0], ..DopeSheet::default() }.into(),
            column: Some(0.0),
            ..Timeline::default()
        },
        pin: Some(Pin { joint: "hand.L".into(), pinned: false }),
        magnification: 1.0,
        moved: true,
        labels: [Labels::default(), Labels::new(|c| (c == Control::Undo).then_some("A"))],
        strain: Some(Strain { method: "springs".into(), volume_ratio: Some(0.98), ..Strain::default() }),
        files: FileList {
            folder: "characters/robots".into(),
            entries: (0..30).map(|i| file(&format!("robot {i:02}.glb"), FileKind::Character)).collect(),
            recent: vec![file("chibi.glb", FileKind::Project)],
            ..FileList::default()
        },
        ..PanelState::default()
    }
}

impl Room {
    pub fn new() -> Self {
        let mut input = Input { focused: true, head: tracked([0.0, 1.6, 0.0]), ..Input::default() };
        for (hand, x) in [(0, -0.25), (1, 0.25)] {
            input.hands[hand].grip = tracked([x, 1.15, -0.35]);
            input.hands[hand].aim = tracked([x, 1.15, -0.35]);
        }
        let mut room = Self {
            panels: Panels::new(),
            bench: None,
            state: full_state(),
            input,
            tool: 1,
            commands: Vec::new(),
            felt: Vec::new(),
        };
        room.away();
        room.step(3);
        room
    }

    /// Runs frames at 50 Hz.
    pub fn step(&mut self, frames: usize) {
        for _ in 0..frames {
            self.input.time += 0.02;
            let out = self.panels.step(&self.input, self.tool, &self.state, self.bench.as_ref());
            self.commands.extend(out.commands.iter().cloned());
            self.felt.extend(out.haptic);
        }
    }

    pub fn aim(&mut self, target: Vec3) {
        let aim = &mut self.input.hands[self.tool].aim.pose;
        aim.orientation = Quat::from_rotation_arc(Vec3::NEG_Z, (target - aim.position).normalize());
    }

    pub fn away(&mut self) {
        self.aim(Vec3::new(3.0, 0.2, -1.0));
    }

    fn aim_at(&mut self, spot: &Spot) {
        let target = self.panels.target(spot).unwrap_or_else(|| panic!("{spot:?} does not show"));
        self.aim(target);
    }

    pub fn trigger(&mut self, value: f32) {
        self.input.hands[self.tool].draw = value;
        self.step(1);
    }

    /// Points at a target, pulls the trigger and releases it.
    pub fn press(&mut self, spot: &Spot) {
        self.aim_at(spot);
        self.step(2);
        self.trigger(0.9);
        self.trigger(0.0);
        self.step(2);
    }

    /// Drags from one point of a panel to another in ten frames, and runs `between` after each frame.
    pub fn drag(&mut self, from: Vec3, to: Vec3, between: fn(&mut Self)) {
        self.aim(from);
        self.step(2);
        self.trigger(0.9);
        between(self);
        for k in 1..=10 {
            self.aim(from.lerp(to, k as f32 / 10.0));
            self.step(1);
            between(self);
        }
        self.trigger(0.0);
        between(self);
        self.away();
        self.step(2);
    }

    /// Returns the place of a panel that shows.
    pub fn placement(&self, panel: Panel) -> Placement {
        *self.panels.out().placements.iter().find(|p| p.panel == panel).unwrap()
    }

    /// Pushes the stick until a target shows. Returns false if it never does.
    pub fn scrolls_to(&mut self, spot: &Spot) -> bool {
        self.input.hands[self.tool].stick[1] = -1.0;
        let shows = (0..200).any(|_| {
            self.step(1);
            self.panels.find(spot).is_some()
        });
        self.input.hands[self.tool].stick[1] = 0.0;
        self.step(2);
        shows
    }

    fn taken(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }
}

#[test]
fn everything_in_the_table_can_be_pressed_and_gives_every_command_its_routes_promise() {
    for entry in &ENTRIES {
        assert_eq!(ENTRIES.iter().filter(|e| e.item == entry.item).count(), 1, "{:?}", entry.item);
        assert_eq!(entry.item.entry(), entry);
    }
    let mut room = Room::new();
    let mut found = Vec::new();
    for page in Page::ALL {
        room.press(&Spot::Page(page));
        let spots: Vec<Spot> =
            room.panels.spots[Panel::Palette as usize].iter().map(|(s, _)| s.clone()).collect();
        for spot in spots {
            let Spot::Command(command) = &spot else { continue };
            if room.panels.find(&spot).is_none() {
                // Skips an item whose offered method an earlier press has changed.
                continue;
            }
            room.press(&spot);
            if *command == Command::Quit {
                assert!(room.taken().is_empty(), "it asks first");
                room.press(&spot);
            }
            let kinds: Vec<CommandKind> = room.taken().iter().map(Command::kind).collect();
            // Pressing a slider at its current value gives no command.
            let slides = [
                CommandKind::Radius,
                CommandKind::Scrub,
                CommandKind::MoveKey,
                CommandKind::Swing,
                CommandKind::Damping,
            ];
            let expected = if slides.contains(&command.kind()) { vec![] } else { vec![command.kind()] };
            assert_eq!(kinds, expected, "{command:?}");
            found.push(command.kind());
        }
    }
    for kind in CommandKind::palette() {
        assert!(found.contains(&kind), "{kind:?} is not on the palette");
        assert!(ENTRIES.iter().any(|e| e.panel == Panel::Palette && e.item.kind() == kind), "{kind:?}");
    }
    room.away();
    room.state.preferences.palette = false;
    room.state.preferences.files = true;
    room.step(3);
    for spot in [
        Spot::Command(Command::Open("robot 03.glb".into())),
        Spot::Command(Command::Open("characters".into())),
    ] {
        room.press(&spot);
        assert_eq!(room.taken().into_iter().map(Spot::Command).collect::<Vec<_>>(), [spot]);
    }
    let shown: Vec<CommandKind> = room.panels.spots[Panel::Files as usize]
        .iter()
        .filter_map(|(spot, _)| if let Spot::Command(c) = spot { Some(c.kind()) } else { None })
        .collect();
    for kind in CommandKind::files() {
        assert!(shown.contains(&kind), "{kind:?} is not on the file panel");
    }
}

#[test]
fn targets_are_at_least_two_and_a_half_degrees_and_nothing_overlaps() {
    let mut room = Room::new();
    room.state.preferences.files = true;
    for page in Page::ALL {
        room.press(&Spot::Page(page));
        for panel in [Panel::Palette, Panel::Files] {
            let spots = &room.panels.spots[panel as usize];
            let size = panel.size();
            let whole =
                egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(size[0] as f32, size[1] as f32));
            for (i, (spot, rect)) in spots.iter().enumerate() {
                assert!(rect.width().min(rect.height()) >= 2.5 * theme::PER_DEGREE, "{spot:?} {rect:?}");
                assert!(whole.shrink(theme::MARGIN - 1.0).contains_rect(*rect), "{spot:?} {rect:?}");
                for (other, second) in &spots[..i] {
                    assert!(!rect.shrink(0.5).intersects(*second), "{spot:?} {other:?}");
                }
            }
        }
    }
}

#[test]
fn a_press_has_hysteresis_survives_tremble_and_is_felt() {
    let mut room = Room::new();
    let spot = Spot::Command(Command::LifeSize);
    room.press(&Spot::Page(Page::View));
    room.taken();
    room.felt.clear();
    room.aim_at(&spot);
    room.step(2);
    assert_eq!(room.felt, [Haptic::Hover]);
    assert!(room.panels.out().pointing);
    // Trigger values between both thresholds neither begin nor end a press.
    room.trigger(0.55);
    room.trigger(0.0);
    assert_eq!(room.taken(), []);
    room.trigger(0.65);
    room.trigger(0.45);
    assert_eq!(room.taken(), []);
    // The hand trembles by half a degree while the trigger is pulled.
    let target = room.panels.target(&spot).unwrap();
    room.aim(target + Vec3::new(0.0, 0.003, 0.0));
    room.step(1);
    room.trigger(0.35);
    assert_eq!(room.taken(), [Command::LifeSize]);
    assert_eq!(room.felt, [Haptic::Hover, Haptic::Selection]);
    // A release off the panel cancels the press.
    room.trigger(0.9);
    room.away();
    room.step(2);
    assert!(room.panels.out().pointing, "the panel holds the pointer until the trigger is let go");
    room.trigger(0.0);
    room.step(2);
    assert_eq!(room.taken(), []);
    assert!(!room.panels.out().pointing);
    // Pressing a disabled item makes the hand vibrate.
    room.state.moved = false;
    room.felt.clear();
    room.press(&Spot::Command(Command::UndoNavigation));
    assert_eq!(room.taken(), []);
    assert!(room.felt.contains(&Haptic::Limit), "{:?}", room.felt);
}

#[test]
fn a_tool_at_work_is_not_caught_by_a_panel_in_its_way() {
    for grab in [false, true] {
        let mut room = Room::new();
        room.away();
        let hand = room.tool;
        let pull = |room: &mut Room, v: f32| {
            let hand = &mut room.input.hands[hand];
            *(if grab { &mut hand.grab } else { &mut hand.draw }) = v;
            room.step(1);
        };
        pull(&mut room, 1.0);
        room.aim_at(&Spot::Command(Command::Undo));
        room.step(3);
        assert!(!room.panels.out().pointing, "a stroke goes on over the palette");
        pull(&mut room, 0.0);
        room.step(1);
        assert!(room.panels.out().pointing);
        assert_eq!(room.taken(), []);
    }
}

#[test]
fn the_slider_follows_the_hand() {
    let mut room = Room::new();
    let radius = room.state.preferences.radius;
    let spot = Spot::Command(Command::Radius(radius));
    let (panel, at) = room.panels.spots[Panel::Palette as usize]
        .iter()
        .find_map(|(s, r)| matches!(s, Spot::Command(Command::Radius(_))).then(|| (s.clone(), r.center())))
        .unwrap();
    assert!(
        matches!(panel, Spot::Command(Command::Radius(r)) if (r / radius - 1.0).abs() < 1e-4),
        "{spot:?}"
    );
    let place = room.panels.out().placements[0];
    let size = Panel::Palette.size();
    let point = |x: f32| place.point([x / size[0] as f32, at.y / size[1] as f32]);
    room.aim(point(at.x));
    room.step(2);
    room.trigger(1.0);
    for (x, expected) in [(at.x + 60.0, 1.0), (1000.0, 2.0), (0.0, 0.0)] {
        room.aim(point(x));
        room.step(2);
        let told = room.taken();
        let Some(Command::Radius(now)) = told.last() else { panic!("{told:?}") };
        match expected {
            0.0 => assert!((now - RADIUS_RANGE[0]).abs() < 1e-6),
            1.0 => assert!(*now > radius && *now < RADIUS_RANGE[1]),
            _ => assert!((now - RADIUS_RANGE[1]).abs() < 1e-5),
        }
        room.state.preferences.radius = *now;
    }
    room.trigger(0.0);
    room.away();
    room.step(3);
    assert_eq!(room.taken(), []);
}

#[test]
fn quitting_asks_once_and_forgets() {
    let mut room = Room::new();
    room.press(&Spot::Page(Page::Session));
    let quit = Spot::Command(Command::Quit);
    room.press(&quit);
    room.step(200);
    room.press(&quit);
    assert_eq!(room.taken(), [], "the first press is forgotten after a while");
    room.press(&quit);
    assert_eq!(room.taken(), [Command::Quit]);
}

#[test]
fn methods_are_switched_on_the_same_pose() {
    let mut room = Room::new();
    room.press(&Spot::Page(Page::View));
    room.press(&Spot::Command(Command::Deformer("dqs".into())));
    assert_eq!(room.taken(), [Command::Deformer("dqs".into())]);
    room.state.deformer = "dqs".into();
    room.step(2);
    // The item for another method replaces the method in slot B, and skips the method in slot A.
    room.press(&Spot::Command(Command::Deformer("blend".into())));
    assert_eq!(room.taken(), [Command::Deformer("blend".into())]);
    room.state.deformer = "blend".into();
    room.step(2);
    for method in ["springs", "blend"] {
        assert!(room.panels.find(&Spot::Command(Command::Deformer(method.into()))).is_some(), "{method}");
    }
    // The document switches to a method that is in no slot.
    room.state.deformer = "cor".into();
    room.step(2);
    for method in ["springs", "cor"] {
        assert!(room.panels.find(&Spot::Command(Command::Deformer(method.into()))).is_some(), "{method}");
    }
}

#[test]
fn only_what_changed_is_painted_again() {
    let mut room = Room::new();
    let dirty = |room: &mut Room| {
        let all: Vec<Panel> = Panel::ALL.into_iter().filter(|p| room.panels.is_dirty(*p)).collect();
        all.iter().for_each(|p| room.panels.painted(*p));
        all
    };
    assert!(dirty(&mut room).contains(&Panel::Palette));
    room.step(50);
    // Panels that have never shown stay unpainted.
    assert_eq!(dirty(&mut room), []);
    // Moving head and hands moves the panels without repainting them.
    room.input.hands[0].grip.pose.position.y += 0.1;
    room.input.head.pose.position.x += 0.1;
    room.step(60);
    assert_eq!(dirty(&mut room), []);
    room.state.magnification = 2.0;
    room.step(1);
    assert_eq!(dirty(&mut room), [Panel::Wrist]);
    room.state.undo = 4;
    room.step(1);
    assert_eq!(dirty(&mut room), [Panel::Palette]);
    room.state.preferences.tool = Tool::Grab;
    room.step(1);
    assert_eq!(dirty(&mut room), [Panel::Palette, Panel::Wrist]);
    room.aim_at(&Spot::Command(Command::Redo));
    room.step(1);
    assert_eq!(dirty(&mut room), [Panel::Palette]);
    room.step(5);
    assert_eq!(dirty(&mut room), []);
    // After the loss of the GPU device everything is painted again, fonts included.
    room.panels.renew();
    room.step(1);
    assert!(room.panels.paint(Panel::Palette).textures.iter().any(|(_, d)| d.pos.is_none()));
}

#[test]
fn panels_stand_at_the_hand_or_beside_the_user_and_survive_recentring() {
    let mut room = Room::new();
    let place = |room: &Room, panel| room.panels.out().placements.iter().find(|p| p.panel == panel).copied();
    let palette = place(&room, Panel::Palette).unwrap();
    let hand = room.input.hands[0].grip.pose.position;
    assert!(
        (Vec2::new(palette.pose.position.x, palette.pose.position.z) - Vec2::new(hand.x, hand.z)).length()
            < 1e-3
    );
    assert!(palette.pose.position.y - palette.size[1] * 0.5 > hand.y, "above the hand");
    let wrist = place(&room, Panel::Wrist).unwrap();
    assert!(wrist.pose.position.y + wrist.size[1] * 0.5 < palette.pose.position.y - palette.size[1] * 0.4);
    // A short loss of tracking does not move the palette.
    room.input.hands[0].grip.tracking = Tracking::Lost;
    room.step(20);
    let kept = place(&room, Panel::Palette).unwrap();
    assert!(kept.pose.position.distance(palette.pose.position) < 1e-3);
    // With one controller, the palette opens beside the line of sight and stays there.
    room.step(60);
    let alone = place(&room, Panel::Palette).unwrap();
    let aside = Quat::from_rotation_y(30_f32.to_radians()) * Quat::from_rotation_x(-22_f32.to_radians());
    let there = Vec3::new(0.0, 1.6, 0.0) + aside * Vec3::NEG_Z * 0.5;
    assert!(alone.pose.position.distance(there) < 1e-3, "{alone:?}");
    room.input.head.pose.orientation = Quat::from_rotation_y(1.0);
    room.step(20);
    assert_eq!(place(&room, Panel::Palette).unwrap().pose, alone.pose);
    // After recentring, the palette is at the same physical place.
    let moved = Rigid { position: Vec3::new(0.5, 0.1, -0.2), orientation: Quat::from_rotation_y(0.8) };
    let carried = moved.point(alone.pose.position);
    room.input.recentred = Some(moved);
    let head = &mut room.input.head.pose;
    *head = Rigid { position: moved.point(head.position), orientation: moved.orientation * head.orientation };
    room.step(1);
    assert!(place(&room, Panel::Palette).unwrap().pose.position.distance(carried) < 1e-5);
    // If the tool hand changes, the palette moves to the other hand.
    let mut left = Room::new();
    left.tool = 0;
    left.step(2);
    let palette = place(&left, Panel::Palette).unwrap();
    assert!((palette.pose.position.x - 0.25).abs() < 1e-3);
}

#[test]
fn lists_scroll_by_the_stick() {
    let mut room = Room::new();
    room.state.preferences.files = true;
    room.state.preferences.palette = false;
    room.step(3);
    let last = Spot::Command(Command::Open("robot 29.glb".into()));
    assert!(room.panels.find(&last).is_none());
    room.aim_at(&Spot::Command(Command::Open("robot 02.glb".into())));
    room.input.hands[1].stick[1] = -1.0;
    room.step(150);
    room.input.hands[1].stick[1] = 0.0;
    room.press(&last);
    assert_eq!(room.taken(), [Command::Open("robot 29.glb".into())]);
}

#[test]
fn lost_tracking_focus_and_broken_poses_press_nothing() {
    let breakages: [fn(&mut Input); 4] = [
        |i| i.hands[1].aim.tracking = Tracking::Lost,
        |i| i.focused = false,
        |i| i.hands[1].aim.pose.orientation.x = f32::NAN,
        |i| i.hands[1].draw = f32::NAN,
    ];
    for breakage in breakages {
        let mut room = Room::new();
        room.aim_at(&Spot::Command(Command::Undo));
        room.step(2);
        room.trigger(1.0);
        let sound = room.input.clone();
        breakage(&mut room.input);
        room.step(3);
        let time = room.input.time;
        room.input = Input { time, ..sound };
        room.trigger(0.0);
        room.step(3);
        let told = room.taken();
        assert!(told.is_empty() || told == [Command::Undo], "{told:?}");
    }
    // Missing and invalid input does no harm.
    let mut panels = Panels::new();
    panels.step(&Input::default(), 1, &PanelState::default(), None);
    let mut input = Room::new().input;
    input.head.pose.position.x = f32::INFINITY;
    input.hands[0].grip.pose.orientation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    input.time = f64::NAN;
    panels.step(&input, 0, &full_state(), None);
    assert!(panels.out().placements.is_empty());
}

#[test]
fn the_same_input_gives_the_same_commands_and_pictures() {
    let run = || {
        let mut room = Room::new();
        room.press(&Spot::Page(Page::View));
        room.press(&Spot::Command(Command::Wire(true)));
        room.press(&Spot::Page(Page::Pose));
        room.press(&Spot::Command(Command::Mirror(true)));
        let vertices: Vec<egui::epaint::Vertex> = Panel::ALL
            .into_iter()
            .flat_map(|p| room.panels.paint(p).primitives.clone())
            .flat_map(|p| match p.primitive {
                egui::epaint::Primitive::Mesh(mesh) => mesh.vertices,
                egui::epaint::Primitive::Callback(_) => Vec::new(),
            })
            .collect();
        (room.commands, vertices)
    };
    let (first, second) = (run(), run());
    assert_eq!(first.0, [Command::Wire(true), Command::Mirror(true)]);
    assert!(first == second);
}

#[test]
fn the_message_panel_tells_the_newest_of_a_problem_and_a_written_file() {
    let mut room = Room::new();
    room.panels.keep_texts();
    let shows = |room: &Room| room.panels.out().placements.iter().any(|p| p.panel == Panel::Message);
    assert!(!shows(&room));
    let (path, problem) = ("wrote /home/me/chibi.project.glb", "no joint is near");
    let text = |room: &mut Room, written: Option<&str>, message: Option<&str>| {
        (room.state.written, room.state.message) = (written.map(Into::into), message.map(Into::into));
        room.step(3);
        let texts = room.panels.texts().filter(|t| t.panel.panel == Panel::Message);
        texts.map(|t| t.text).last().unwrap_or_default()
    };
    assert_eq!(text(&mut room, Some(path), None), path);
    assert_eq!(text(&mut room, Some(path), Some(problem)), problem);
    assert_eq!(text(&mut room, None, Some(problem)), problem);
    assert_eq!(text(&mut room, Some(path), Some(problem)), path, "the problem is older");
    let icon = |room: &Room| room.panels.message(room.input.time, &room.state).map(|(icon, _)| icon);
    assert!(icon(&room) == Some(Icon::Save));
    for (told, expected) in
        [("no grip is near".into(), Icon::Warning), (Notice::fact("Keyed Hips at 0.00 s"), Icon::Fact)]
    {
        (room.state.written, room.state.message) = (None, Some(told));
        room.step(3);
        assert!(icon(&room) == Some(expected));
    }
    room.step((MESSAGE_TIME / 0.02) as usize + 1);
    assert!(!shows(&room));
}
