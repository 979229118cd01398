//! What scenarios begin with and end with: a capsule on four bones before the user, a document on disk.

use super::bed::{App, Runtime, play, show};
use crate::desktop::Desktop;
use sinew::app::report::{Ask, Event};
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::bind::shapes::Shape;
use sinew::document::Document;
use sinew::puppet::{Puppet, State};
use sinew::rig::PosedRig;
use sinew::scene::Model;
use sinew::workbench::{Command, Rigid, Tool, Tracking};
use std::path::Path;

/// Capsule radius, metres.
pub const RADIUS: f32 = 0.15;
/// Its joints' heights, metres of the world.
pub const JOINTS: [f32; 4] = [0.0, 0.45, 0.9, 1.35];
/// Where the brush tip is from the hand, metres, hand's space.
pub const TIP: Vec3 = Vec3::new(0.0, 0.0, -0.05);

/// The numbers of the capsule that the scenarios work on: along +Y from the world's origin.
pub fn shape() -> Shape {
    Shape { bones: 4, rings: 36, segments: 16, radius: RADIUS, length: 1.8, blend: 0.5 }
}

/// A session with the capsule, focused, both hands tracked.
pub struct Session {
    pub app: App,
    pub puppet: Puppet,
}

impl Session {
    /// None, and a line, where there is no runtime here.
    pub fn start(arguments: &[&str]) -> Option<(Runtime, Self)> {
        let runtime = Runtime::start()?;
        let session = Self::on(&runtime, arguments);
        Some((runtime, session))
    }

    /// With another character.
    pub fn start_with(name: &str, glb: &[u8], arguments: &[&str]) -> Option<(Runtime, Self)> {
        let runtime = Runtime::start()?;
        std::fs::write(runtime.path(name), glb).unwrap();
        let session = Self::with(&runtime, name, arguments, None);
        Some((runtime, session))
    }

    /// On a runtime that runs.
    pub fn on(runtime: &Runtime, arguments: &[&str]) -> Self {
        Self::before(runtime, arguments, None)
    }

    /// With a desktop where there is one.
    pub fn before(runtime: &Runtime, arguments: &[&str], desktop: Option<&Desktop>) -> Self {
        let glb = sinew::export::unedited(&shape().capsule_asset()).unwrap();
        std::fs::write(runtime.path("capsule.glb"), glb).unwrap();
        Self::with(runtime, "capsule.glb", arguments, desktop)
    }

    /// With another file.
    pub fn with(runtime: &Runtime, file: &str, arguments: &[&str], desktop: Option<&Desktop>) -> Self {
        // Before the program, so that its room is measured from a head at rest.
        let puppet = runtime.puppet();
        let fixed = ["vr", file, "--forget", "--out", "out"];
        let app = App::run(runtime, &[&fixed[..], arguments].concat(), desktop);
        let mut session = Self { app, puppet };
        session.app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
        session.focus();
        session
    }

    /// Runs on until the program has the user's attention and sees both hands, and measures its room.
    pub fn focus(&mut self) {
        self.app.until_frame(3000, "focused", |f| {
            f.state == "FOCUSED" && f.rendered && f.tracking == [Tracking::Tracked; 2]
        });
        self.measure_room();
    }

    /// Measures where the program's room is from the puppet's, by the head.
    pub fn measure_room(&mut self) {
        let (seen, sent) = (self.app.frame.head, self.puppet.state.head);
        let orientation = (seen.orientation * sent.orientation.inverse()).normalize();
        self.app.room_from_stage =
            Rigid { position: seen.position - orientation * sent.position, orientation };
    }

    /// Plays a script, in the puppet's room.
    pub fn play(&mut self, script: &str) {
        play(&mut self.puppet, &mut self.app, script);
    }

    /// Where the puppet's room has a point of the world.
    pub fn stage(&self, world: Vec3) -> Vec3 {
        let room = self.app.frame.world_from_room.inverse_point(world);
        let from = self.app.room_from_stage;
        from.orientation.inverse() * (room - from.position)
    }

    /// For scripts: where a hand that is not turned must be so that its brush tip is at a point of the world.
    pub fn tip(&self, world: Vec3) -> String {
        words(self.stage(world) - TIP)
    }

    /// Draws a straight line in the world by a hand's trigger.
    pub fn line(&mut self, hand: &str, from: Vec3, to: Vec3) {
        let (from, to) = (self.tip(from), self.tip(to));
        self.play(&format!(
            "{hand} turn 0 0 0\n{hand} at {from}\n{hand} trigger 1\n{hand} at {to} over 0.5\n{hand} trigger 0"
        ));
    }

    /// Draws an arc about the world's z axis through `centre` by a hand's trigger: degrees, counter-clockwise.
    pub fn arc(&mut self, hand: &str, from: Vec3, centre: Vec3, degrees: f32) {
        let (from, centre) = (self.tip(from), words(self.stage(centre)));
        self.play(&format!(
            "{hand} turn 0 0 0\n{hand} at {from}\n{hand} trigger 1\n\
             {hand} arc {centre} 0 0 1 {degrees} over 0.6\n{hand} trigger 0\n{hand} turn 0 0 0"
        ));
    }

    /// Draws a baseline through the capsule's joints. It begins below them, so that what is drawn from the lowest joint
    /// does not grab its knot.
    pub fn baseline(&mut self, hand: &str) {
        self.line(hand, Vec3::Y * -0.05, Vec3::Y * 1.5);
    }

    /// Draws a line of action by a hand: a baseline through the capsule, and an offset stroke that bends it to +X.
    pub fn bend(&mut self, hand: &str) {
        self.baseline(hand);
        self.arc(hand, Vec3::ZERO, Vec3::X, -85.0);
    }

    /// Opens the capsule again, as at the start: its hash, the first view, hands and head at rest, the usual tool.
    pub fn reopen(&mut self, fresh: &str) {
        self.app.ask(&Ask::Command(Command::Open("capsule.glb".into())));
        self.app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
        self.app.event("the body on the stage", |e| matches!(e, Event::Shown(_)).then_some(()));
        self.puppet.state = State::default();
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

    /// Saves the document and reads it back; checks that OpenXR's validation layer found nothing.
    pub fn save(&mut self, runtime: &Runtime) -> (Model, Document) {
        assert_eq!(self.app.frame.mirrored, 0, "a mirror without a display");
        self.app.ask(&Ask::Command(Command::Save));
        self.app.event("a saved project", |e| {
            matches!(e, Event::Written(p) if p.ends_with("project.glb")).then_some(())
        });
        assert_eq!(runtime.findings(), "");
        saved(&runtime.path("out/project.glb"))
    }

    /// Ends the program and reads what it left; checks that the validation layers found nothing.
    pub fn end(self, runtime: &Runtime) -> (Model, Document) {
        assert_eq!(self.app.frame.mirrored, 0, "a mirror without a display");
        self.app.quit();
        assert_eq!(runtime.findings(), "");
        saved(&runtime.path("out/project.glb"))
    }
}

/// A project on disk.
pub fn saved(path: &Path) -> (Model, Document) {
    let model = Model::load(path, &BindOptions::default()).unwrap();
    let document = model.document.clone().expect("the project holds a document");
    (model, document)
}

/// Where the capsule's joints are in a document, metres.
pub fn joints(model: &Model, document: &Document) -> Vec<Vec3> {
    let rig = PosedRig::new(model.skeleton(), &document.posed(model.skeleton()));
    (0..JOINTS.len()).map(|j| rig.world[j].translation.into()).collect()
}

/// Checks that the joints lie on the arc that [`Session::bend`] draws, within the tolerance, at their own distances.
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

/// Three numbers for a script.
pub fn words(v: Vec3) -> String {
    format!("{:.6} {:.6} {:.6}", v.x, v.y, v.z)
}

/// Counts of pixels of each eye's half that are far from the picture's corner colour.
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

/// How many pixels differ clearly.
pub fn differing(a: &image::RgbImage, b: &image::RgbImage) -> usize {
    a.pixels().zip(b.pixels()).filter(|(a, b)| (0..3).any(|i| a[i].abs_diff(b[i]) > 24)).count()
}
