//! Ghosts over the picture: the silhouettes of the character at other times. Each ghost marks its pixels in a channel of
//! a mask, and a compute stage then draws the marks over the picture. Ghosts write no depth and no G-buffer, so queries
//! and shadows ignore them. Behind the body, only the outline of a ghost shows.

use super::gbuffer::check_views;
use super::overlay::{MarkPass, MarkStages, Masks};
use super::scene::Scene;
use super::targets::Targets;
use super::view::View;
use crate::base::Result;
use crate::gpu::{Bindings, Buffer, Device, Frame, Image};
use crate::shared_with_shaders;
use crate::spv;
use ash::vk::Format;
use std::sync::Arc;

/// Largest number of ghosts before, and after, the displayed time.
pub const GHOSTS: usize = 4;
/// Colour of ghosts of earlier times: blue, sRGB-encoded.
pub const PAST: [u8; 3] = [64, 140, 255];
/// Colour of ghosts of later times: orange, sRGB-encoded.
pub const FUTURE: [u8; 3] = [255, 146, 48];
/// Factor on the opacity from a ghost to the next ghost, farther in time.
pub const FADE: f32 = 0.65;

const MASK: Format = Format::R8G8B8A8_UNORM;

shared_with_shaders! {
    struct GhostsPush as "Push" {
        past_strength: [f32; 4],
        future_strength: [f32; 4],
        past_color: [f32; 3],
        future_color: [f32; 3],
        size: [u32; 2],
        radius: i32,
    }
}

/// The shape of a ghost.
pub struct GhostShape {
    /// World position per display vertex, `vec4`, metres.
    pub positions: Buffer,
    bindings: Bindings,
}

/// The images of the ghosts for the targets of a picture: marks of earlier times, and of later times. One channel per
/// ghost.
pub struct GhostMasks(Masks<2>);

/// The ghosts of a picture.
#[derive(Clone, Copy)]
pub struct ShownGhosts<'a> {
    /// The images, bound to the targets of the picture.
    pub masks: &'a GhostMasks,
    /// The shapes before and after the displayed time, nearest first, with a factor on their opacity, 0..=1.
    pub shapes: [[Option<(&'a GhostShape, f32)>; GHOSTS]; 2],
}

impl std::fmt::Debug for ShownGhosts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let strengths = self.shapes.map(|side| side.map(|ghost| ghost.map(|g| g.1)));
        f.debug_struct("ShownGhosts").field("shapes", &strengths).finish_non_exhaustive()
    }
}

const STAGES: MarkStages = [spv!("render/ghost.vert"), spv!("render/ghost.frag"), spv!("render/ghosts.comp")];

/// The pipelines of ghosts, created once per device.
pub(super) struct GhostPass(MarkPass);

impl GhostPass {
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self(MarkPass::new::<GhostsPush>(device, STAGES, &[MASK; 2])?))
    }

    /// Allocates the shape of a ghost of this number of display vertices.
    pub fn shape(&self, device: &Arc<Device>, vertices: usize) -> Result<GhostShape> {
        let positions = Buffer::zeroed::<[f32; 4]>(device, "ghost", vertices)?;
        // The pipelines for one view and for two views declare this set alike.
        let bindings = self.0.marks.of(1).bind(1, &[("positions", &positions)])?;
        Ok(GhostShape { positions, bindings })
    }

    /// Allocates the masks of a picture.
    pub fn masks(&self, device: &Arc<Device>, targets: &Targets) -> Result<GhostMasks> {
        let mask = |name| Image::target(device, name, MASK, targets.size, targets.views);
        let masks = [("past", mask("past ghosts")?), ("future", mask("future ghosts")?)];
        Ok(GhostMasks(self.0.bind(targets, masks)?))
    }

    /// Draws the ghosts over a picture whose surface is drawn. `scale` is the number of pixels per point.
    pub fn record(
        &self,
        frame: &mut Frame,
        (scene, targets): (&Scene, &Targets),
        ghosts: &ShownGhosts<'_>,
        (views, scale): (&[View], f32),
    ) -> Result<()> {
        check_views(views, targets.views)?;
        let ShownGhosts { masks, shapes } = ghosts;
        if shapes.iter().flatten().all(Option::is_none) {
            return Ok(());
        }
        frame.phase("ghosts");
        let strength = |side: usize| {
            std::array::from_fn(|rank| shapes[side][rank].map_or(0.0, |(_, s)| s * FADE.powi(rank as i32)))
        };
        let color = |color: [u8; 3]| color.map(|c| f32::from(c) / 255.0);
        let push = GhostsPush {
            past_strength: strength(0),
            future_strength: strength(1),
            past_color: color(PAST),
            future_color: color(FUTURE),
            size: targets.size,
            radius: scale.round().clamp(1.0, 8.0) as i32,
        };
        self.0.record(frame, targets, &masks.0, &push, |pass, pipeline| {
            for (channel, ghost) in shapes.iter().flatten().enumerate() {
                let Some((shape, _)) = ghost else { continue };
                pass.bind_set(pipeline, &shape.bindings);
                pass.push(pipeline, &(channel as u32));
                scene.draw(pass, false, |_, _| {}, |_, _| {});
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaders_and_rust_agree_without_a_device() {
        super::super::overlay::check_stages::<GhostsPush>(STAGES);
    }
}
