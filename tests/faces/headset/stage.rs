//! Setup and end of the scenarios: a capsule with four bones in front of the user, and a saved project on disk.

use super::bed::{App, Runtime, play, show};
use crate::desktop::Desktop;
use sinew::app::report::{Ask, Event};
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::bind::shapes::Shape;
use sinew::document::Document;
use sinew::puppet::{Puppet, PuppetState};
use sinew::rig::PosedRig;
use sinew::scene::Model;
use sinew::workbench::{Command, Rigid, Tool, Tracking};
use std::path::Path;

/// Radius of the capsule, metres.
pub const RADIUS: f32 = 0.15;
/// Heights of the capsule's joints, world space, metres.
pub const JOINTS: [f32; 4] = [0.0, 0.45, 0.9, 1.35];
/// Position of the brush tip in the hand's space, metres.
pub const TIP: Vec3 = Vec3::new(0.0, 0.0, -0.05);

/// Returns the dimensions of the test capsule, which extends along +Y from the world's origin.
pub fn shape() -> Shape {
    Shape { bones: 4, rings: 36, segments: 16, radius: RADIUS, length: 1.8, blend: 0.5 }
}

/// A running program that shows a character, and the puppet that simulates its headset and controllers.
pub struct Session {
    pub app: App,
    pub puppet: Puppet,
}

impl Session {
    /// Starts a runtime and a session with the capsule. Returns `None` if no OpenXR runtime is installed.
    pub fn start(arguments: &[&str]) -> Option<(Runtime, Self)> {
        let runtime = Runtime::start()?;
        let session = Self::on(&runtime, arguments);
        Some((runtime, session))
    }

    /// Starts a runtime and a session with the character in `glb`. The runtime's folder stores the file as `name`.
    pub fn start_with(name: &str, glb: &[u8], arguments: &[&str]) -> Option<(Runtime, Self)> {
        let runtime = Runtime::start()?;
        std::fs::write(runtime.path(name), glb).unwrap();
        let session = Self::with(&runtime, name, arguments, None);
        Some((runtime, session))
    }

    /// Starts a session with the capsule on a running runtime.
    pub fn on(runtime: &Runtime, arguments: &[&str]) -> Self {
        Self::before(runtime, arguments, None)
    }

    /// Starts a session with the capsule, on the display of `desktop` if it is given.
    pub fn before(runtime: &Runtime, arguments: &[&str], desktop: Option<&Desktop>) -> Self {
        let glb = sinew::export::unedited(&shape().capsule_asset()).unwrap();
        std::fs::write(runtime.path("capsule.glb"), glb).unwrap();
        Self::with(runtime, "capsule.glb", arguments, desktop)
    }

    /// Starts a session with the character in `file`, on the display of `desktop` if it is given.
    pub fn with(runtime: &Runtime, file: &str, arguments: &[&str], desktop: Option<&Desktop>) -> Self {
        // The puppet connects before the program starts, so that the room's origin comes from the head's rest pose.
        let puppet = runtime.puppet();
        let fixed = ["vr", file, "--forget", "--out", "out", "--samples", "1"];
        let app = App::run(runtime, &[&fixed[..], arguments].concat(), desktop);
        let mut session = Self { app, puppet };
        session.app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
        session.focus();
        session
    }

    /// Waits until the OpenXR session is focused and both hands are tracked, then measures the room.
    pub fn focus(&mut self) {
        self.app.until_frame(3000, "focused", |f| {
            f.state == "FOCUSED" && f.rendered && f.tracking == [Tracking::Tracked; 2]
        });
        self.measure_room();
    }

    /// Computes the transform from the puppet's space to the program's room from the head pose in both spaces.
    pub fn measure_room(&mut self) {
        let (seen, sent) = (self.app.frame.head, self.puppet.state.head);
        let orientation = (seen.orientation * sent.orientation.inverse()).normalize();
        self.app.room_from_stage =
            Rigid { position: seen.position - orientation * sent.position, orientation };
    }

    /// Plays a script; the script's coordinates are in the puppet's space.
    pub fn play(&mut self, script: &str) {
        play(&mut self.puppet, &mut self.app, script);
    }

    /// Converts a world-space point to the puppet's space.
    pub fn stage(&self, world: Vec3) -> Vec3 {
        let room = self.app.frame.world_from_room.inverse_point(world);
        let from = self.app.room_from_stage;
        from.orientation.inverse() * (room - from.position)
    }

    /// Returns the script coordinates of an unrotated hand whose brush tip is at a world-space point.
    pub fn tip(&self, world: Vec3) -> String {
        words(self.stage(world) - TIP)
    }

    /// Draws a straight line between two world-space points with a hand's trigger.
    pub fn line(&mut self, hand: &str, from: Vec3, to: Vec3) {
        let (from, to) = (self.tip(from), self.tip(to));
        self.play(&format!(
            "{hand} turn 0 0 0\n{hand} at {from}\n{hand} trigger 1\n{hand} at {to} over 0.3\n{hand} trigger 0"
        ));
    }

    /// Draws an arc from `from` about the world's z axis through `centre`. `degrees` is positive counter-clockwise.
    pub fn arc(&mut self, hand: &str, from: Vec3, centre: Vec3, degrees: f32) {
        let (from, centre) = (self.tip(from), words(self.stage(centre)));
        self.play(&format!(
            "{hand} turn 0 0 0\n{hand} at {from}\n{hand} trigger 1\n\
             {hand} arc {centre} 0 0 1 {degrees} over 0.3\n{hand} trigger 0\n{hand} turn 0 0 0"
        ));
    }

    /// Draws a baseline through the capsule's joints. The baseline begins below the lowest joint, so that a stroke
    /// from the lowest joint does not grab the first knot of the baseline.
    pub fn baseline(&mut self, hand: &str) {
        self.line(hand, Vec3::Y * -0.05, Vec3::Y * 1.5);
    }

    /// Draws a line of action: a baseline through the capsule, and an offset stroke that bends the capsule to +X.
    pub fn bend(&mut self, hand: &str) {
        self.baseline(hand);
        self.arc(hand, Vec3::ZERO, Vec3::X, -85.0);
    }

    /// Reopens the capsule and resets hands, head, tool and palette. Checks that the document's hash equals `fresh`.
    pub fn reopen(&mut self, fresh: &str) {
        self.app.ask(&Ask::Command(Command::Open("capsule.glb".into())));
        self.app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
        self.app.event("the body on the stage", |e| matches!(e, Event::Shown(_)).then_some(()));
        self.puppet.state = PuppetState::default();
        show(&mut self.puppet, &mut self.app);
        if self.app.frame.tool != Tool::Line {
            self.app.press(Command::Tool(Tool::Line));
        }
        if self.app.frame.left_handed {
            self.app.press(Command::LeftHanded(false));
        }
        if !self.app.frame.palette {
            self.app.press(Command::Palette);
        }
        assert_eq!((self.app.hash().as_str(), self.app.frame.history), (fresh, [1, 0]));
    }

    /// Saves the document and loads the saved project. Checks that OpenXR's validation layer found nothing.
    pub fn save(&mut self, runtime: &Runtime) -> (Model, Document) {
        assert_eq!(self.app.frame.mirrored, 0, "a mirror without a display");
        self.app.ask(&Ask::Command(Command::Save));
        self.app.event("a saved project", |e| {
            matches!(e, Event::Written(p) if p.ends_with("project.glb")).then_some(())
        });
        assert_eq!(runtime.findings(), "");
        saved(&runtime.path("out/project.glb"))
    }

    /// Ends the program and loads the saved project. Checks that the validation layers found nothing.
    pub fn end(self, runtime: &Runtime) -> (Model, Document) {
        assert_eq!(self.app.frame.mirrored, 0, "a mirror without a display");
        self.app.quit();
        assert_eq!(runtime.findings(), "");
        saved(&runtime.path("out/project.glb"))
    }
}

/// Loads the model and the document of a saved project.
pub fn saved(path: &Path) -> (Model, Document) {
    let model = Model::load(path, &BindOptions::default()).unwrap();
    let document = model.document.clone().expect("the project holds a document");
    (model, document)
}

/// Returns the positions of the capsule's joints in the document's pose, world space, metres.
pub fn joints(model: &Model, document: &Document) -> Vec<Vec3> {
    let rig = PosedRig::new(model.skeleton(), &document.posed(model.skeleton()));
    (0..JOINTS.len()).map(|j| rig.world[j].translation.into()).collect()
}

/// Checks that the joints lie within `tolerance` metres of the arc of [`Session::bend`], with constant bone lengths.
pub fn check_bent(model: &Model, document: &Document, tolerance: f32) {
    let joints = joints(model, document);
    for (j, joint) in joints.iter().enumerate() {
        let off = joint.distance(Vec3::X) - 1.0;
        assert!(off.abs() < tolerance, "joint {j} is {off} off the arc: {joints:?}");
        assert!(joint.z.abs() < tolerance, "joint {j} left the plane: {joints:?}");
    }
    for pair in joints.windows(2) {
        assert!((pair[0].distance(pair[1]) - 0.45).abs() < 1e-4, "a bone changed its length: {joints:?}");
    }
    assert!(joints[3].x > 0.5, "{joints:?}");
}

/// Formats a vector as three numbers for a script.
pub fn words(v: Vec3) -> String {
    format!("{:.6} {:.6} {:.6}", v.x, v.y, v.z)
}

/// Counts, for each eye, the pixels that differ clearly from the colour of the image's upper-left pixel.
pub fn covered(picture: &image::RgbImage) -> [usize; 2] {
    let ground = *picture.get_pixel(0, 0);
    let half = picture.width() / 2;
    let mut out = [0; 2];
    for (x, _, pixel) in picture.enumerate_pixels() {
        let far: i32 = (0..3).map(|i| (i32::from(pixel[i]) - i32::from(ground[i])).abs()).sum();
        out[usize::from(x >= half)] += usize::from(far > 60);
    }
    out
}

/// Counts the pixels that differ by more than 24 of 255 in any channel.
pub fn differing(a: &image::RgbImage, b: &image::RgbImage) -> usize {
    a.pixels().zip(b.pixels()).filter(|(a, b)| (0..3).any(|i| a[i].abs_diff(b[i]) > 24)).count()
}
