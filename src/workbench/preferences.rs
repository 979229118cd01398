//! User preferences, which Sinew keeps between sessions and which are not part of the document.

use super::navigation::{Travel, VIEWPOINTS, Viewpoint};
use super::{CageSet, Command, GrabBy, MarkBy, MeasureBy, OnionSkins, Pen, Tool};
use crate::deform::classic::Method;
use crate::pose::Lengths;
use crate::render::{Filter, Look, Occlusion, Shading};
use crate::scene::SkinColors;
use crate::surface::Reach;
use serde::{Deserialize, Serialize};

/// Smallest and largest brush radius, metres of the room.
pub const RADIUS_RANGE: [f32; 2] = [0.005, 0.5];

/// Smallest and largest factor on the recommended width and height of the headset's pictures.
pub const RENDER_SCALE_RANGE: [f32; 2] = [0.5, 2.0];
/// Steps of that factor, so that a drag of its slider rebuilds the pictures seldom.
const SCALE_STEPS: f32 = 20.0;

/// Maximum number of bones per stroke that the interface offers.
pub const MOST_BONES: u32 = 8;

/// Persistent choices. A front end loads and saves them; commands change them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// The active tool.
    pub tool: Tool,
    /// Brush radius, room metres; see [`RADIUS_RANGE`].
    pub radius: f32,
    /// How new strokes treat bone lengths.
    pub lengths: Lengths,
    /// How strokes of the line tool follow the hand.
    pub pen: Pen,
    /// Whether controller roll twists the body.
    pub roll: bool,
    /// Whether strokes and grabs act on both sides.
    pub mirror: bool,
    /// Grab mode.
    #[serde(default = "GrabBy::before_choice")]
    pub grab: GrabBy,
    /// Kind of measure.
    pub measure: MeasureBy,
    /// What the trigger does at marks.
    pub marks: MarkBy,
    /// The share of DQS that strokes paint, 0..=1.
    pub paint: f32,
    /// How far new sculpt layers extend beyond their marks; `None` takes the brush radius.
    pub reach: Option<Reach>,
    /// The classical tool that moves the passive vertices of new sculpt layers. With `None`, the passive vertices
    /// follow the nearest kinematic vertices, and the silhouette tool uses Laplacian surface editing (LSE).
    pub surroundings: Option<Method>,
    /// The quantity in which the silhouette tool finds silhouettes.
    pub silhouettes: Filter,
    /// Whether an accent stroke moves the silhouette in depth, too.
    pub accent_depth: bool,
    /// Number of bones per stroke of the bone tool; 0 places a joint at each corner.
    pub bones: u32,
    /// Which vertices of the cage follow a hand.
    pub cage_set: CageSet,
    /// Whether the cage tool shows the rest pose.
    pub cage_rest: bool,
    /// Whether bones, strokes and triangle edges are drawn over the body.
    pub wire: bool,
    /// Whether the selection is outlined.
    pub outline: bool,
    /// Whether multisample antialiasing (4 samples) is on.
    pub smooth: bool,
    /// Whether triangles are drawn curved (Phong tessellation).
    pub phong: bool,
    /// How the surface is shaded.
    pub shading: Shading,
    /// Whether parts of the surface that are near each other darken each other (ambient occlusion).
    pub occlusion: Occlusion,
    /// Factor on the recommended width and height of the headset's pictures; see [`RENDER_SCALE_RANGE`].
    pub render_scale: f32,
    /// Refresh rate of the headset, hertz; with `None`, the runtime chooses the rate.
    pub refresh_rate: Option<f32>,
    /// Whether the headset's pictures omit the pixels that the lenses hide.
    pub hidden_area: bool,
    /// Whether the headset shows the user's room instead of the backdrop.
    pub passthrough: bool,
    /// Whether attachment points and scale vectors are drawn.
    pub binding: bool,
    /// Whether the cone of the selected joint's limit is drawn. The joint tool always draws it.
    pub limit_cone: bool,
    /// What the colours on the skin show.
    #[serde(alias = "weights")]
    pub colors: SkinColors,
    /// Whether the curve is drawn along which the skin crosses itself.
    pub crossings: bool,
    /// Error bound of exports, millimetres: the shapes of all frames then share a few morph targets. With `None`, an
    /// export has the shapes of the keys, one morph target each.
    pub export_error: Option<f64>,
    /// Whether the turntable rotates the character.
    pub turntable: bool,
    /// Whether two hands may tilt the world.
    pub roll_world: bool,
    /// Whether the fingers of the free hand pose the fingers of the character.
    pub fingers: bool,
    /// How the stick of the free hand moves the user.
    pub travel: Travel,
    /// Viewpoints that the user has kept.
    pub viewpoints: [Option<Viewpoint>; VIEWPOINTS],
    /// Whether the tools are in the left hand.
    pub left_handed: bool,
    /// Whether controllers vibrate.
    pub haptics: bool,
    /// Whether the motion path of the selected joint is visible.
    pub path: bool,
    /// Which onion skins show.
    pub onion: OnionSkins,
    /// Whether playback starts again at its end.
    pub loops: bool,
    /// Whether the palette is visible.
    pub palette: bool,
    /// Whether the file panel is visible.
    pub files: bool,
    /// Whether the details panel is visible.
    pub details: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            tool: Tool::Line,
            radius: 0.06,
            lengths: Lengths::Keep,
            pen: Pen::Free,
            roll: false,
            mirror: false,
            grab: GrabBy::Body,
            measure: MeasureBy::Distance,
            marks: MarkBy::Pull,
            paint: 1.0,
            reach: None,
            surroundings: None,
            silhouettes: Filter::Normal,
            accent_depth: false,
            bones: 0,
            cage_set: CageSet::Brush,
            cage_rest: false,
            wire: false,
            outline: true,
            smooth: true,
            phong: false,
            shading: Shading::Textured,
            occlusion: Occlusion::Auto,
            render_scale: 1.0,
            refresh_rate: None,
            hidden_area: true,
            passthrough: false,
            binding: false,
            limit_cone: false,
            colors: SkinColors::Off,
            crossings: false,
            export_error: None,
            turntable: false,
            roll_world: false,
            fingers: false,
            travel: Travel::Jump,
            viewpoints: [None; VIEWPOINTS],
            left_handed: false,
            haptics: true,
            path: true,
            onion: OnionSkins::default(),
            loops: true,
            palette: true,
            files: false,
            details: false,
        }
    }
}

impl Preferences {
    /// Clamps values that were read from a file to valid ranges.
    pub fn sane(mut self) -> Self {
        self.bones = self.bones.min(MOST_BONES);
        self.reach = self.reach.map(Reach::sane);
        self.fingers = false;
        self.onion = self.onion.sane();
        self.viewpoints = self.viewpoints.map(|v| v.filter(Viewpoint::is_sane));
        self.paint = if self.paint.is_finite() { self.paint.clamp(0.0, 1.0) } else { 1.0 };
        let scale = self.render_scale;
        self.set_render_scale(if scale.is_finite() { scale } else { 1.0 });
        self.refresh_rate = self.refresh_rate.filter(|rate| rate.is_finite() && *rate > 0.0);
        self.export_error = self.export_error.filter(|mm| mm.is_finite() && *mm > 0.0);
        self.set_radius(if self.radius.is_finite() { self.radius } else { Self::default().radius });
        self
    }

    /// Sets the brush radius, clamped to [`RADIUS_RANGE`]. Returns false if the radius does not change.
    pub fn set_radius(&mut self, radius: f32) -> bool {
        let old = self.radius;
        if radius.is_finite() {
            self.radius = radius.clamp(RADIUS_RANGE[0], RADIUS_RANGE[1]);
        }
        self.radius != old
    }

    /// Carries out a command that changes a preference and nothing else. Returns `false` for other commands.
    pub(super) fn set(&mut self, command: &Command) -> bool {
        match command {
            Command::Palette => self.palette = !self.palette,
            // Both panels open in front of the user.
            Command::Files => (self.files, self.details) = (!self.files, self.details && self.files),
            Command::Details => (self.details, self.files) = (!self.details, self.files && self.details),
            Command::Radius(radius) => {
                self.set_radius(*radius);
            }
            Command::Lengths(lengths) => self.lengths = *lengths,
            Command::Pen(pen) => self.pen = *pen,
            Command::Roll(on) => self.roll = *on,
            Command::GrabBy(by) => self.grab = *by,
            Command::PaintShare(share) => {
                self.paint = if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 }
            }
            Command::NewReach(reach) => self.reach = reach.map(Reach::sane),
            Command::NewSurroundings(method) => self.surroundings = *method,
            Command::Silhouettes(filter) => self.silhouettes = *filter,
            Command::AccentDepth(on) => self.accent_depth = *on,
            Command::BonesPerStroke(bones) => self.bones = (*bones).min(MOST_BONES),
            Command::Wire(on) => self.wire = *on,
            Command::Outline(on) => self.outline = *on,
            Command::Smooth(on) => self.smooth = *on,
            Command::Phong(on) => self.phong = *on,
            Command::Shading(shading) => self.shading = *shading,
            Command::Occlusion(occlusion) => self.occlusion = *occlusion,
            Command::RenderScale(scale) => self.set_render_scale(*scale),
            Command::RefreshRate(rate) => self.refresh_rate = rate.filter(|r| r.is_finite() && *r > 0.0),
            Command::HiddenArea(on) => self.hidden_area = *on,
            Command::Passthrough(on) => self.passthrough = *on,
            Command::LimitCone(on) => self.limit_cone = *on,
            Command::Binding(on) => self.binding = *on,
            Command::Crossings(on) => self.crossings = *on,
            Command::Turntable(on) => self.turntable = *on,
            Command::Travel(travel) => self.travel = *travel,
            Command::Haptics(on) => self.haptics = *on,
            Command::MotionPath(on) => self.path = *on,
            Command::Onion(on) => self.onion.on = *on,
            Command::Ghosts { before, after, spacing } => {
                self.onion =
                    OnionSkins { before: *before, after: *after, spacing: *spacing, ..self.onion }.sane();
            }
            Command::Loop(on) => self.loops = *on,
            Command::ExportError(mm) => self.export_error = mm.filter(|mm| mm.is_finite() && *mm > 0.0),
            _ => return false,
        }
        true
    }

    /// Sets the factor on the size of the headset's pictures, clamped to [`RENDER_SCALE_RANGE`] and rounded to 0.05.
    pub fn set_render_scale(&mut self, scale: f32) {
        if scale.is_finite() {
            let scale = scale.clamp(RENDER_SCALE_RANGE[0], RENDER_SCALE_RANGE[1]);
            self.render_scale = (scale * SCALE_STEPS).round() / SCALE_STEPS;
        }
    }

    /// Sets how a picture shows the surface, on a software driver or a GPU.
    pub fn set_look(&self, look: &mut Look, software: bool) {
        (look.wire, look.phong, look.outline) = (self.wire, self.phong, self.outline);
        (look.shading, look.occlusion) = (self.shading, self.occlusion.is_on(software));
    }

    /// Index into [`super::Input::hands`] of the hand that holds the tools.
    pub fn tool_hand(&self) -> usize {
        usize::from(!self.left_handed)
    }
}
