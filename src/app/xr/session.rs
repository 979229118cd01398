//! A session: its spaces, its images, its frames. Whatever the runtime answers is looked at; nothing is called twice.
#![allow(unsafe_code, reason = "a session is made of handles of two libraries")]

use super::device;
use super::error::{Result, failed};
use super::instance::Runtime;
use super::panel_layers::QuadLayer;
use super::session_state::{SessionState, Transition};
use super::space::{Room, rigid};
use super::swapchain::{Content, Swapchain};
use crate::gpu::{Device, Frame};
use crate::render::View;
use crate::scene::Stage;
use crate::take::Eye;
use crate::workbench::{Similarity, Tracked};
use openxr as xr;
use std::sync::Arc;

const STEREO: xr::ViewConfigurationType = xr::ViewConfigurationType::PRIMARY_STEREO;

/// A session on a runtime.
pub struct Session {
    // Dropped in this order: images and spaces, then the session, which keeps instance and device.
    color: Swapchain,
    depth: Option<Swapchain>,
    room: Room,
    waiter: xr::FrameWaiter,
    stream: xr::FrameStream<xr::Vulkan>,
    session: xr::Session<xr::Vulkan>,
    device: Arc<Device>,
    blend: xr::EnvironmentBlendMode,
    life: SessionState,
    /// Frames begun and not ended.
    missed: u64,
    /// Whether somebody wears the headset, where the runtime tells (XR_EXT_user_presence).
    present: Option<bool>,
}

/// What an event asks of the loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// The state changed to what [`Session::life`] says.
    Turned(Transition),
    /// Other controllers are in the hands.
    Profiles,
    /// The runtime is about to go.
    LossPending,
    /// The headset was taken off (XR_EXT_user_presence); frames may go on.
    TakenOff,
}

/// A frame that was begun.
#[derive(Clone, Copy)]
pub struct Begun {
    /// When it will be seen.
    pub time: xr::Time,
    /// Whether pictures are wanted.
    pub render: bool,
}

/// The eyes of a frame.
#[derive(Clone, Copy)]
pub struct Eyes {
    located: [xr::View; 2],
    /// The room, for takes.
    pub room: [Eye; 2],
    /// World, for the renderer.
    pub views: [View; 2],
}

impl Session {
    /// Begins nothing yet: makes session, images (of the runtime's recommended size) and spaces on a device that the
    /// runtime has made.
    ///
    /// # Errors
    /// The runtime's; when memory is short.
    pub fn new(runtime: &Runtime, device: &Arc<Device>) -> Result<Self> {
        let info = device::binding(device);
        let guard = Box::new(device.clone());
        // SAFETY: the handles are live, made through this runtime, and kept by the guard until the session is gone.
        let made = device.with_queue(|_| unsafe {
            runtime.instance.create_session_with_guard::<xr::Vulkan>(runtime.system, &info, guard)
        });
        let (session, waiter, stream) = made.map_err(failed("xrCreateSession"))?;
        let make = |content| Swapchain::new(&session, device, content, runtime.size, 2);
        let Some(color) = make(Content::Color)? else {
            return Err(failed("xrCreateSwapchain")(xr::sys::Result::ERROR_SWAPCHAIN_FORMAT_UNSUPPORTED));
        };
        Ok(Self {
            depth: if runtime.offers.depth { make(Content::Depth)? } else { None },
            color,
            room: Room::new(&session, runtime.offers.local_floor)?,
            waiter,
            stream,
            session,
            device: device.clone(),
            blend: runtime.blend,
            life: SessionState::default(),
            missed: 0,
            present: None,
        })
    }

    /// The session itself, for actions.
    pub fn handle(&self) -> &xr::Session<xr::Vulkan> {
        &self.session
    }

    /// The room.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// Its state.
    pub fn life(&self) -> &SessionState {
        &self.life
    }

    /// Pixels of each eye.
    pub fn size(&self) -> [u32; 2] {
        self.color.size
    }

    /// Whether depth is handed over too.
    pub fn has_depth(&self) -> bool {
        self.depth.is_some()
    }

    /// Whether somebody wears the headset; `None` if the runtime has not said.
    pub fn present(&self) -> Option<bool> {
        self.present
    }

    /// Frames that were begun and could not be ended.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Takes the next event, and begins or ends the session where it says so. None when there is no further event.
    ///
    /// # Errors
    /// The runtime's.
    pub fn poll(
        &mut self,
        instance: &xr::Instance,
        events: &mut xr::EventDataBuffer,
    ) -> Result<Option<Happened>> {
        use xr::Event as E;
        while let Some(event) = instance.poll_event(events).map_err(failed("xrPollEvent"))? {
            match event {
                E::SessionStateChanged(e) if e.session() == self.session.as_raw() => {
                    let turn = self.life.change(e.state());
                    match turn {
                        Transition::Begin => {
                            self.session.begin(STEREO).map_err(failed("xrBeginSession"))?;
                        }
                        Transition::End => {
                            self.session.end().map_err(failed("xrEndSession"))?;
                        }
                        _ => {}
                    }
                    return Ok(Some(Happened::Turned(turn)));
                }
                E::InteractionProfileChanged(_) => return Ok(Some(Happened::Profiles)),
                E::InstanceLossPending(_) => return Ok(Some(Happened::LossPending)),
                E::UserPresenceChangedEXT(e) => {
                    self.present = Some(e.is_user_present());
                    if !e.is_user_present() {
                        return Ok(Some(Happened::TakenOff));
                    }
                }
                E::ReferenceSpaceChangePending(e) if e.session() == self.session.as_raw() => {
                    let pose = e.pose_valid().then(|| rigid(&e.pose_in_previous_space())).flatten();
                    self.room.will_change(e.reference_space_type(), e.change_time(), pose);
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Asks the runtime to end: it answers with states until [`Turn::Quit`].
    ///
    /// # Errors
    /// The runtime's.
    pub fn request_exit(&self) -> Result<()> {
        if self.life.running() {
            self.session.request_exit().map_err(failed("xrRequestExitSession"))
        } else {
            Ok(())
        }
    }

    /// Waits for the runtime's pace and begins a frame. To be called while [`SessionState::running`], and answered by
    /// [`Session::end`].
    ///
    /// # Errors
    /// The runtime's.
    pub fn begin(&mut self) -> Result<Begun> {
        let state = self.waiter.wait().map_err(failed("xrWaitFrame"))?;
        let stream = &mut self.stream;
        self.device.with_queue(|_| stream.begin()).map_err(failed("xrBeginFrame"))?;
        self.missed += 1;
        Ok(Begun { time: state.predicted_display_time, render: state.should_render })
    }

    /// The head at a frame's time, and how the room's origin has moved: see [`Room::locate`].
    ///
    /// # Errors
    /// The runtime's.
    pub fn head(&mut self, begun: &Begun) -> Result<(Tracked, Option<crate::workbench::Rigid>)> {
        self.room.locate(&self.session, begun.time)
    }

    /// The eyes at a frame's time, as late as can be; `None` if the runtime does not know.
    ///
    /// # Errors
    /// The runtime's.
    pub fn eyes(&self, begun: &Begun, world_from_room: &Similarity) -> Result<Option<Eyes>> {
        let (flags, views) = self
            .session
            .locate_views(STEREO, begun.time, &self.room.space)
            .map_err(failed("xrLocateViews"))?;
        use xr::ViewStateFlags as F;
        let &[left, right] = views.as_slice() else { return Ok(None) };
        if !flags.contains(F::POSITION_VALID | F::ORIENTATION_VALID) {
            return Ok(None);
        }
        let located = [left, right];
        let (Some(a), Some(b)) = (eye(&left), eye(&right)) else { return Ok(None) };
        let (Some(left), Some(right)) = (a.view(world_from_room), b.view(world_from_room)) else {
            return Ok(None);
        };
        Ok(Some(Eyes { located, room: [a, b], views: [left, right] }))
    }

    /// Acquires the runtime's images and records the copies of the stage's finished pictures into them.
    ///
    /// # Errors
    /// The runtime's.
    pub fn take_pictures(&mut self, frame: &mut Frame, stage: &Stage) -> Result<()> {
        frame.phase("hand over");
        self.color.acquire()?;
        self.color.copy(frame, &stage.targets().picture);
        if let Some(depth) = &mut self.depth {
            depth.acquire()?;
            depth.copy(frame, &stage.targets().depth);
        }
        Ok(())
    }

    /// Ends the frame; with `eyes` it shows the pictures that were taken and submitted, and panels before them.
    ///
    /// # Errors
    /// The runtime's.
    pub fn end(&mut self, begun: &Begun, eyes: Option<&Eyes>, walls: &[QuadLayer<'_>]) -> Result<()> {
        self.color.release()?;
        if let Some(depth) = &mut self.depth {
            depth.release()?;
        }
        let depths = eyes.zip(self.depth.as_ref()).map(|(_, depth)| {
            [0, 1].map(|eye| xr::sys::CompositionLayerDepthInfoKHR {
                ty: xr::sys::CompositionLayerDepthInfoKHR::TYPE,
                next: std::ptr::null(),
                // SAFETY: a plain struct of the swapchain that outlives the call below.
                sub_image: depth.layer(eye).into_raw(),
                min_depth: 0.0,
                max_depth: 1.0,
                // Reversed, without a far plane: depth 0 is infinitely far.
                near_z: f32::INFINITY,
                far_z: Eye::NEAR,
            })
        });
        let projections = eyes.map(|eyes| {
            [0usize, 1].map(|eye| {
                let mut raw = xr::CompositionLayerProjectionView::new()
                    .pose(eyes.located[eye].pose)
                    .fov(eyes.located[eye].fov)
                    .sub_image(self.color.layer(eye as u32))
                    .into_raw();
                if let Some(depths) = &depths {
                    raw.next = std::ptr::from_ref(&depths[eye]).cast();
                }
                // SAFETY: images and depth info live until the frame has been ended.
                unsafe { xr::CompositionLayerProjectionView::<xr::Vulkan>::from_raw(raw) }
            })
        });
        let layer = projections
            .as_ref()
            .map(|views| xr::CompositionLayerProjection::new().space(&self.room.space).views(views));
        let quads: Vec<_> = walls.iter().map(|wall| quad(wall, &self.room.space)).collect();
        let mut layers: Vec<&xr::CompositionLayerBase<'_, xr::Vulkan>> = Vec::with_capacity(quads.len() + 1);
        if let Some(layer) = &layer {
            layers.push(layer);
            layers.extend(quads.iter().map(|quad| -> &xr::CompositionLayerBase<'_, xr::Vulkan> { quad }));
        }
        let (stream, blend) = (&mut self.stream, self.blend);
        self.device.with_queue(|_| stream.end(begun.time, blend, &layers)).map_err(failed("xrEndFrame"))?;
        self.missed -= 1;
        Ok(())
    }

    /// Takes everything back. The GPU must be idle, and spaces of actions must be gone.
    pub fn close(self) {
        let Self { color, depth, room, waiter, stream, session, device, .. } = self;
        drop((color, depth, room));
        // The runtime may wait for the queue.
        device.with_queue(|_| drop((waiter, stream, session)));
    }
}

/// A panel as a layer of both eyes: colours times alpha over what is behind it.
fn quad<'a>(wall: &QuadLayer<'a>, space: &'a xr::Space) -> xr::CompositionLayerQuad<'a, xr::Vulkan> {
    let at = &wall.placement;
    let (p, q) = (at.pose.position, at.pose.orientation);
    xr::CompositionLayerQuad::new()
        .layer_flags(xr::CompositionLayerFlags::BLEND_TEXTURE_SOURCE_ALPHA)
        .space(space)
        .eye_visibility(xr::EyeVisibility::BOTH)
        .sub_image(wall.image.layer(0))
        .pose(xr::Posef {
            orientation: xr::Quaternionf { x: q.x, y: q.y, z: q.z, w: q.w },
            position: xr::Vector3f { x: p.x, y: p.y, z: p.z },
        })
        .size(xr::Extent2Df { width: at.size[0], height: at.size[1] })
}

/// An eye as the editor has it; `None` if its pose is no pose.
fn eye(view: &xr::View) -> Option<Eye> {
    let fov = view.fov;
    let fov = [fov.angle_left, fov.angle_right, fov.angle_up, fov.angle_down];
    Some(Eye { pose: rigid(&view.pose)?, fov })
}
