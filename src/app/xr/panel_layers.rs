//! Panels in the room: quad layers of the compositor, sharp at any size of the eyes' pictures; or quads in the scene,
//! where layers run out.

use super::error::Result;
use super::session::Session;
use super::swapchain::{Content, Swapchain};
use crate::gpu::Frame;
use crate::render::QuadBindings;
use crate::scene::Stage;
use crate::ui::palette::{Panel, PanelScreens, Panels, Placement};
use crate::workbench::Similarity;

const PANELS: usize = Panel::ALL.len();

/// The panels' images on a device and in a session.
pub struct PanelLayers {
    screens: PanelScreens,
    bound: QuadBindings,
    /// A swapchain for each; `None` if they are drawn in the scene.
    layers: Option<[Swapchain; PANELS]>,
    /// Panels that have been handed over once: others cannot be shown as layers.
    filled: [bool; PANELS],
    /// Those whose images were acquired in this frame.
    taken: [bool; PANELS],
}

/// A panel's layer in a frame.
pub struct QuadLayer<'a> {
    /// Its picture.
    pub image: &'a Swapchain,
    /// Where it is.
    pub placement: Placement,
}

impl PanelLayers {
    /// Makes the images. `max_layers` is how many layers the runtime composes.
    ///
    /// # Errors
    /// The runtime's; when memory is short.
    pub fn new(session: &Session, stage: &Stage, max_layers: u32, panels: &mut Panels) -> Result<Self> {
        let screens = PanelScreens::new(stage.device())?;
        // The pictures of an earlier device are gone.
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

    /// Shows the panels in the stage's pictures, which are others than before.
    ///
    /// # Errors
    /// When memory is short.
    pub fn rebind(&mut self, stage: &Stage) -> Result<()> {
        self.bound = self.screens.bind(stage.targets())?;
        Ok(())
    }

    /// Paints what has changed and hands it over.
    ///
    /// # Errors
    /// The runtime's; when memory is short.
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

    /// Whether panels are drawn into the eyes' pictures.
    pub fn in_scene(&self) -> bool {
        self.layers.is_none()
    }

    /// Draws the panels into the eyes' finished pictures.
    pub fn draw(&mut self, frame: &mut Frame, stage: &Stage, panels: &Panels, world_from_room: &Similarity) {
        self.screens.record_quads(frame, stage.targets(), &self.bound, panels, world_from_room);
    }

    /// Gives back what was acquired; its commands have been submitted.
    ///
    /// # Errors
    /// The runtime's.
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

    /// The layers to show, the farthest from the head first.
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
