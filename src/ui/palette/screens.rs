//! GPU images of the panels.

use super::place::Placement;
use super::{Panel, Panels};
use crate::base::Result;
use crate::gpu::{Device, Frame, Image};
use crate::render::{PanelImage, PanelPainter, Quad, QuadBindings, QuadPainter, Targets};
use crate::workbench::Similarity;
use std::sync::Arc;

/// Opacity of the parts of a panel that lie behind objects of the scene. These parts stay visible, so that the user can
/// always find the panel.
const HIDDEN: f32 = 0.15;

/// One image per panel, in sRGB with premultiplied alpha, for quad layers of a compositor or for quads in the scene.
pub struct PanelScreens {
    painter: PanelPainter,
    quads: QuadPainter,
    images: [PanelImage; Panel::ALL.len()],
    order: Vec<Placement>,
}

impl PanelScreens {
    /// Creates pipelines and images. Fails if the device does not support them or lacks memory.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let painter = PanelPainter::new(device)?;
        let image = |panel: Panel| painter.image(panel.name(), panel.size());
        let images = [
            image(Panel::Palette)?,
            image(Panel::Files)?,
            image(Panel::Wrist)?,
            image(Panel::Strain)?,
            image(Panel::Message)?,
            image(Panel::Details)?,
            image(Panel::Keyboard)?,
        ];
        Ok(Self { painter, quads: QuadPainter::new(device)?, images, order: Vec::new() })
    }

    /// Paints the visible panels whose images are out of date, in a separate GPU phase. Returns which panels it
    /// painted. The caller must submit the recorded frame.
    ///
    /// Fails if the device lacks memory.
    pub fn record(&mut self, frame: &mut Frame, panels: &mut Panels) -> Result<[bool; Panel::ALL.len()]> {
        let mut painted = [false; Panel::ALL.len()];
        for placement in &panels.out().placements {
            painted[placement.panel as usize] = panels.is_dirty(placement.panel);
        }
        if painted.contains(&true) {
            frame.phase("panels");
            let dirty = || Panel::ALL.into_iter().filter(|p| painted[*p as usize]);
            for panel in dirty() {
                self.painter.upload(frame, &mut self.images[panel as usize], panels.paint(panel))?;
                panels.painted(panel);
            }
            frame.barrier();
            for panel in dirty() {
                self.painter.draw(frame, &self.images[panel as usize]);
            }
            frame.barrier();
        }
        Ok(painted)
    }

    /// The image of a panel.
    pub fn image(&self, panel: Panel) -> &Image {
        &self.images[panel as usize].image
    }

    /// Binds the images to render targets, once for the lifetime of the targets.
    ///
    /// # Errors
    /// If the device lacks memory.
    pub fn bind(&self, targets: &Targets) -> Result<QuadBindings> {
        let images: Vec<&Image> = Panel::ALL.into_iter().map(|p| self.image(p)).collect();
        self.quads.bind(targets, &images)
    }

    /// Draws the placed panels over the rendered views of both eyes in a separate GPU phase, the nearest panel last.
    /// Call this after [`crate::render::Renderer::record`].
    pub fn record_quads(
        &mut self,
        frame: &mut Frame,
        targets: &Targets,
        bound: &QuadBindings,
        panels: &Panels,
        world_from_room: &Similarity,
    ) {
        let (placements, Some(head)) = (&panels.out().placements, panels.head()) else { return };
        if placements.is_empty() {
            return;
        }
        self.order.clear();
        self.order.extend_from_slice(placements);
        let away = |p: &Placement| p.pose.position.distance_squared(head);
        self.order.sort_by(|a, b| away(b).total_cmp(&away(a)));
        frame.phase("panels in the scene");
        let quads = self.order.iter().map(|p| (p.panel as usize, quad(p, world_from_room)));
        self.quads.record(frame, targets, bound, quads);
    }
}

/// Converts a placed panel to a quad in world space.
fn quad(placement: &Placement, world_from_room: &Similarity) -> Quad {
    let point = |at| world_from_room.point(placement.point(at));
    let corner = point([0.0, 0.0]);
    Quad { corner, right: point([1.0, 0.0]) - corner, down: point([0.0, 1.0]) - corner, hidden: HIDDEN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Vec3};
    use crate::gpu::testing::{assert_silent, device};
    use crate::ui::palette::state::PanelState;
    use crate::workbench::{Input, Preferences, Rigid, Tracked, Tracking};

    #[test]
    fn panels_are_painted_once_and_again_only_where_they_changed() {
        let Some(device) = device() else { return };
        let mut screens = PanelScreens::new(&device).unwrap();
        let mut panels = Panels::new();
        let head = Rigid { position: Vec3::Y * 1.6, orientation: Quat::IDENTITY };
        let mut input = Input {
            focused: true,
            head: Tracked { pose: head, tracking: Tracking::Tracked },
            ..Input::default()
        };
        let mut state = PanelState {
            preferences: Preferences { palette: true, ..Preferences::default() },
            magnification: 1.0,
            ..PanelState::default()
        };
        let mut frame = |panels: &mut Panels, state: &PanelState, screens: &mut PanelScreens| {
            input.time += 0.02;
            panels.step(&input, 1, state, None);
            let mut painted = [false; Panel::ALL.len()];
            device
                .run(|frame| {
                    painted = screens.record(frame, panels)?;
                    Ok(())
                })
                .unwrap();
            Panel::ALL.into_iter().filter(|p| painted[*p as usize]).collect::<Vec<_>>()
        };
        assert_eq!(frame(&mut panels, &state, &mut screens), [Panel::Palette, Panel::Wrist]);
        frame(&mut panels, &state, &mut screens);
        for _ in 0..20 {
            assert_eq!(frame(&mut panels, &state, &mut screens), []);
        }
        state.magnification = 0.25;
        assert_eq!(frame(&mut panels, &state, &mut screens), [Panel::Wrist]);
        state.preferences.palette = false;
        assert_eq!(frame(&mut panels, &state, &mut screens), []);
        let [width, height] = Panel::Palette.size();
        let pixels: Vec<[u8; 4]> = device.read_image(screens.image(Panel::Palette), 0).unwrap();
        let at = |x: u32, y: u32| pixels[(y * width + x) as usize];
        assert_eq!(at(0, 0), [0; 4], "round corners");
        let glass = at(width / 2, height - 8);
        assert!(glass[3] > 230 && glass[..3].iter().all(|c| *c < 40), "{glass:?}");
        // Checks the background of the chosen tool's tile, then counts the bright pixels of the tile's text.
        assert_eq!(at(30, 60), [47, 111, 224, 255]);
        let ink = pixels[(100 * width) as usize..(124 * width) as usize].iter();
        let ink = ink.filter(|p| p[0] > 220).count();
        assert!((300..2500).contains(&ink), "{ink}");
        assert_silent(&device);
    }
}
