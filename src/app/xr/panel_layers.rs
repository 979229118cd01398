//! Panels in the room: quad layers of the compositor, which stay sharp at any eye resolution, or quads in the scene
//! if the runtime supports too few layers.

use super::error::Result;
use super::session::Session;
use super::swapchain::{Content, Swapchain};
use crate::gpu::Frame;
use crate::render::QuadBindings;
use crate::scene::Stage;
use crate::ui::palette::{Panel, PanelScreens, Panels, Placement};
use crate::workbench::Similarity;

const PANELS: usize = Panel::ALL.len();

/// Images of the panels for a device and a session.
pub struct PanelLayers {
    screens: PanelScreens,
    bound: QuadBindings,
    /// One swapchain per panel; `None` if panels are drawn in the scene.
    layers: Option<[Swapchain; PANELS]>,
    /// Panels whose swapchain has content; only they can be shown as layers.
    filled: [bool; PANELS],
    /// Panels whose swapchain image is acquired in this frame.
    taken: [bool; PANELS],
}

/// The quad layer of a panel in one frame.
pub struct QuadLayer<'a> {
    /// The panel's swapchain.
    pub image: &'a Swapchain,
    /// Pose and size of the panel in the room.
    pub placement: Placement,
}

impl PanelLayers {
    /// Creates the panels' images. `max_layers` is the runtime's maximum number of composition layers.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails or memory runs out.
    pub fn new(session: &Session, stage: &Stage, max_layers: u32, panels: &mut Panels) -> Result<Self> {
        let screens = PanelScreens::new(stage.device())?;
        // The textures of an earlier device no longer exist.
        panels.renew();
        let mut layers = None;
        if max_layers as usize > PANELS {
            let mut all = Vec::with_capacity(PANELS);
            for panel in Panel::ALL {
                let made = Swapchain::new(session.handle(), stage.device(), Content::Color, panel.size(), 1)?;
                all.extend(made);
            }
            layers = all.try_into().ok();
        }
        let bound = screens.bind(stage.targets())?;
        Ok(Self { screens, bound, layers, filled: [false; PANELS], taken: [false; PANELS] })
    }

    /// Rebinds the panels to the stage's recreated render targets.
    ///
    /// # Errors
    /// Fails if memory runs out.
    pub fn rebind(&mut self, stage: &Stage) -> Result<()> {
        self.bound = self.screens.bind(stage.targets())?;
        Ok(())
    }

    /// Paints the changed panels and copies them into their swapchains.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails or memory runs out.
    pub fn paint(&mut self, frame: &mut Frame, panels: &mut Panels) -> Result<()> {
        let painted = self.screens.record(frame, panels)?;
        let Some(layers) = &mut self.layers else { return Ok(()) };
        for (index, panel) in Panel::ALL.into_iter().enumerate() {
            if painted[panel as usize] {
                layers[index].acquire()?;
                layers[index].copy(frame, self.screens.image(panel));
                self.taken[index] = true;
            }
        }
        Ok(())
    }

    /// Returns whether panels are drawn as quads in the scene.
    pub fn in_scene(&self) -> bool {
        self.layers.is_none()
    }

    /// Draws the panels into the rendered eye images.
    pub fn draw(&mut self, frame: &mut Frame, stage: &Stage, panels: &Panels, world_from_room: &Similarity) {
        self.screens.record_quads(frame, stage.targets(), &self.bound, panels, world_from_room);
    }

    /// Releases the acquired images; their commands must have been submitted.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn release(&mut self) -> Result<()> {
        let Some(layers) = &mut self.layers else { return Ok(()) };
        for (index, layer) in layers.iter_mut().enumerate() {
            if std::mem::take(&mut self.taken[index]) {
                layer.release()?;
                self.filled[index] = true;
            }
        }
        Ok(())
    }

    /// Returns the quad layers to show, the farthest from the head first.
    pub fn layers<'a>(&'a self, panels: &Panels) -> Vec<QuadLayer<'a>> {
        let (Some(layers), Some(head)) = (&self.layers, panels.head()) else { return Vec::new() };
        let shown = panels.out().placements.iter().filter(|p| self.filled[p.panel as usize]);
        let mut out: Vec<QuadLayer<'a>> =
            shown.map(|p| QuadLayer { image: &layers[p.panel as usize], placement: *p }).collect();
        let away = |layer: &QuadLayer<'_>| layer.placement.pose.position.distance_squared(head);
        out.sort_by(|a, b| away(b).total_cmp(&away(a)));
        out
    }
}
