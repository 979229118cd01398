//! An OpenXR session: its reference spaces, swapchains and frames. Every result of the runtime is checked.
#![allow(unsafe_code, reason = "a session is made of handles of two libraries")]

use super::device;
use super::error::{Result, failed};
use super::instance::Runtime;
use super::offers::{CameraLayer, Cameras, Passthrough, Rates, hidden_triangles};
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
use std::time::{Duration, Instant};

const STEREO: xr::ViewConfigurationType = xr::ViewConfigurationType::PRIMARY_STEREO;

/// Maximum display period of a frame without an image.
const LONGEST_PERIOD: Duration = Duration::from_millis(100);

/// An OpenXR session with its swapchains.
pub struct Session {
    // Drop order: swapchains, cameras and spaces, then the session, which keeps instance and device alive.
    color: Swapchain,
    depth: Option<Swapchain>,
    cameras: Option<Cameras>,
    room: Room,
    waiter: xr::FrameWaiter,
    stream: xr::FrameStream<xr::Vulkan>,
    session: xr::Session<xr::Vulkan>,
    device: Arc<Device>,
    /// Environment blend mode with a backdrop, and how the room shows without one.
    blend: xr::EnvironmentBlendMode,
    passthrough: Option<Passthrough>,
    /// Whether the room is shown instead of the backdrop.
    shows_room: bool,
    rates: Rates,
    /// Fields of view of the last located eyes.
    fovs: Option<[xr::Fovf; 2]>,
    /// Fields of view for which the pixels hidden by the lenses were read; `None` if they must be read again.
    hidden_fovs: Option<[xr::Fovf; 2]>,
    life: SessionState,
    /// Number of frames begun and not ended.
    missed: u64,
    /// Time before which the next frame must not begin: one display period after a frame without an image began.
    not_before: Option<Instant>,
    /// Whether the user wears the headset; `None` if the runtime does not report it (XR_EXT_user_presence).
    present: Option<bool>,
}

/// An OpenXR event that the frame loop handles.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// The session state changed; [`Session::life`] holds the new state.
    Turned(Transition),
    /// The interaction profile of a hand changed.
    Profiles,
    /// The runtime announced the loss of the instance.
    LossPending,
    /// The user took the headset off (XR_EXT_user_presence); the session may keep running.
    TakenOff,
}

/// A frame between `xrBeginFrame` and `xrEndFrame`.
#[derive(Clone, Copy)]
pub struct Begun {
    /// Predicted display time.
    pub time: xr::Time,
    /// Whether the runtime wants rendered images (`shouldRender`).
    pub render: bool,
}

/// Poses and fields of view of both eyes in a frame.
#[derive(Clone, Copy)]
pub struct Eyes {
    located: [xr::View; 2],
    /// Eyes in room space, for takes.
    pub room: [Eye; 2],
    /// Eyes in world space, for the renderer.
    pub views: [View; 2],
}

impl Session {
    /// Creates the session, its swapchains (of the runtime's recommended size) and its spaces, on a device that the
    /// runtime has created. Does not call `xrBeginSession`.
    ///
    /// # Errors
    /// Fails if the runtime reports an error or GPU memory runs out.
    pub fn new(runtime: &Runtime, device: &Arc<Device>) -> Result<Self> {
        let info = device::binding(device);
        let guard = Box::new(device.clone());
        // SAFETY: the runtime created these live handles, and the guard keeps them until the session is destroyed.
        let made = device.with_queue(|_| unsafe {
            runtime.instance.create_session_with_guard::<xr::Vulkan>(runtime.system, &info, guard)
        });
        let (session, waiter, stream) = made.map_err(failed("xrCreateSession"))?;
        let (color, depth) = swapchains(&session, device, runtime.size, runtime.offers.depth)?;
        let rates = Rates::new(&runtime.instance, &session)?;
        Ok(Self {
            color,
            depth,
            cameras: None,
            room: Room::new(&session, runtime.offers.local_floor)?,
            waiter,
            stream,
            session,
            device: device.clone(),
            blend: runtime.blend,
            passthrough: runtime.offers.passthrough,
            shows_room: false,
            rates,
            fovs: None,
            hidden_fovs: None,
            life: SessionState::default(),
            missed: 0,
            not_before: None,
            present: None,
        })
    }

    /// Replaces the swapchains by ones for eyes of `size` pixels. Call it between frames, after the GPU work of all frames
    /// has been submitted.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails or memory runs out.
    pub fn resize(&mut self, size: [u32; 2]) -> Result<()> {
        let has_depth = self.depth.is_some();
        (self.color, self.depth) = swapchains(&self.session, &self.device, size, has_depth)?;
        Ok(())
    }

    /// Applies the user's choice of refresh rate and surroundings. Call it between frames.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn choose(&mut self, refresh_rate: Option<f32>, room: bool) -> Result<()> {
        self.rates.choose(&self.session, refresh_rate)?;
        self.shows_room = room && self.passthrough.is_some();
        let wants_cameras = self.shows_room && self.passthrough == Some(Passthrough::Layer);
        match (wants_cameras, &self.cameras) {
            (true, None) => self.cameras = Some(Cameras::new(&self.session)?),
            (false, Some(_)) => self.cameras = None,
            _ => {}
        }
        Ok(())
    }

    /// Whether the headset shows the room instead of the backdrop. The backdrop must then be transparent.
    pub fn shows_room(&self) -> bool {
        self.shows_room
    }

    /// Returns the refresh rates to choose from, hertz.
    pub fn rates(&self) -> &[f32] {
        &self.rates.all
    }

    /// Returns the pixels of both eyes that the lenses hide, if they are new: see [`Stage::set_hidden`].
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn new_hidden(&mut self, instance: &xr::Instance) -> Result<Option<[Vec<[f32; 2]>; 2]>> {
        let Some([left, right]) = self.fovs.filter(|now| self.hidden_fovs != Some(*now)) else {
            return Ok(None);
        };
        self.hidden_fovs = self.fovs;
        let of = |eye, fov| hidden_triangles(instance, &self.session, eye, fov);
        Ok(Some([of(0, left)?, of(1, right)?]))
    }

    /// Returns the OpenXR session handle, for actions.
    pub fn handle(&self) -> &xr::Session<xr::Vulkan> {
        &self.session
    }

    /// Returns the reference spaces.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// Returns the session state.
    pub fn life(&self) -> &SessionState {
        &self.life
    }

    /// Returns the image size of one eye, pixels.
    pub fn size(&self) -> [u32; 2] {
        self.color.size
    }

    /// Returns whether depth images are submitted as well.
    pub fn has_depth(&self) -> bool {
        self.depth.is_some()
    }

    /// Returns whether the user wears the headset; `None` if the runtime has not reported it.
    pub fn present(&self) -> Option<bool> {
        self.present
    }

    /// Returns the number of frames that were begun but not ended.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns the next relevant event, if any. Begins or ends the session when its state demands that.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
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
                E::VisibilityMaskChangedKHR(_) => self.hidden_fovs = None,
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

    /// Asks the runtime to end the session. The resulting state changes end with [`Transition::Quit`].
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn request_exit(&self) -> Result<()> {
        if self.life.running() {
            self.session.request_exit().map_err(failed("xrRequestExitSession"))
        } else {
            Ok(())
        }
    }

    /// Waits for the runtime's frame timing and begins a frame. Call it only while [`SessionState::running`];
    /// [`Session::end`] must follow.
    ///
    /// A frame without an image lasts at least one display period. `xrWaitFrame` of Monado does not wait in such frames,
    /// yet it adds a period to the predicted display time in each. Without this limit the predicted time runs ahead of
    /// the clock, and the first frame with an image blocks until the clock has caught up.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn begin(&mut self) -> Result<Begun> {
        if let Some(time) = self.not_before {
            std::thread::sleep(time.saturating_duration_since(Instant::now()));
        }
        let state = self.waiter.wait().map_err(failed("xrWaitFrame"))?;
        let period = u64::try_from(state.predicted_display_period.as_nanos()).unwrap_or_default();
        self.not_before =
            (!state.should_render).then(|| Instant::now() + Duration::from_nanos(period).min(LONGEST_PERIOD));
        let stream = &mut self.stream;
        self.device.with_queue(|_| stream.begin()).map_err(failed("xrBeginFrame"))?;
        self.missed += 1;
        Ok(Begun { time: state.predicted_display_time, render: state.should_render })
    }

    /// Returns the head pose at the display time, and the movement of the room's origin: see [`Room::locate`].
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn head(&mut self, begun: &Begun) -> Result<(Tracked, Option<crate::workbench::Rigid>)> {
        self.room.locate(&self.session, begun.time)
    }

    /// Locates the eyes for the display time; call it late in the frame. `None` if the runtime cannot locate them.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn eyes(&mut self, begun: &Begun, world_from_room: &Similarity) -> Result<Option<Eyes>> {
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
        self.fovs = Some([left.fov, right.fov]);
        let (Some(a), Some(b)) = (eye(&left), eye(&right)) else { return Ok(None) };
        let (Some(left), Some(right)) = (a.view(world_from_room), b.view(world_from_room)) else {
            return Ok(None);
        };
        Ok(Some(Eyes { located, room: [a, b], views: [left, right] }))
    }

    /// Acquires swapchain images and records copies of the stage's rendered images into them.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
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

    /// Ends the frame. With `eyes`, submits the eye images as a projection layer and `panels` on top.
    ///
    /// # Errors
    /// Fails if an OpenXR call fails.
    pub fn end(&mut self, begun: &Begun, eyes: Option<&Eyes>, panels: &[QuadLayer<'_>]) -> Result<()> {
        self.color.release()?;
        if let Some(depth) = &mut self.depth {
            depth.release()?;
        }
        let depths = eyes.zip(self.depth.as_ref()).map(|(_, depth)| {
            [0, 1].map(|eye| xr::sys::CompositionLayerDepthInfoKHR {
                ty: xr::sys::CompositionLayerDepthInfoKHR::TYPE,
                next: std::ptr::null(),
                // SAFETY: a plain struct that refers to the swapchain, which outlives the call below.
                sub_image: depth.layer(eye).into_raw(),
                min_depth: 0.0,
                max_depth: 1.0,
                // Reversed depth without a far plane: depth 0 is at infinity.
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
                // SAFETY: swapchain images and depth info live until the frame has ended.
                unsafe { xr::CompositionLayerProjectionView::<xr::Vulkan>::from_raw(raw) }
            })
        });
        let flags = match self.shows_room {
            true => xr::CompositionLayerFlags::BLEND_TEXTURE_SOURCE_ALPHA,
            false => xr::CompositionLayerFlags::EMPTY,
        };
        let layer = projections.as_ref().map(|views| {
            xr::CompositionLayerProjection::new().layer_flags(flags).space(&self.room.space).views(views)
        });
        let quads: Vec<_> = panels.iter().map(|panel| quad(panel, &self.room.space)).collect();
        let cameras = self.cameras.as_ref().map(Cameras::layer);
        let mut layers: Vec<&xr::CompositionLayerBase<'_, xr::Vulkan>> = Vec::with_capacity(quads.len() + 2);
        if let Some(layer) = &layer {
            layers.extend(cameras.as_ref().map(CameraLayer::base));
            layers.push(layer);
            layers.extend(quads.iter().map(|quad| -> &xr::CompositionLayerBase<'_, xr::Vulkan> { quad }));
        }
        let blend = match self.passthrough {
            Some(Passthrough::Blend(mode)) if self.shows_room => mode,
            _ => self.blend,
        };
        let stream = &mut self.stream;
        self.device.with_queue(|_| stream.end(begun.time, blend, &layers)).map_err(failed("xrEndFrame"))?;
        self.missed -= 1;
        Ok(())
    }

    /// Destroys the session. The GPU must be idle, and action spaces must be destroyed already.
    pub fn close(self) {
        let Self { color, depth, cameras, room, waiter, stream, session, device, .. } = self;
        drop((color, depth, cameras, room));
        // Destroying the session may submit to the queue.
        device.with_queue(|_| drop((waiter, stream, session)));
    }
}

/// Creates the swapchains for the colour and, if wanted and possible, the depth of both eyes.
fn swapchains(
    session: &xr::Session<xr::Vulkan>,
    device: &Arc<Device>,
    size: [u32; 2],
    has_depth: bool,
) -> Result<(Swapchain, Option<Swapchain>)> {
    let make = |content| Swapchain::new(session, device, content, size, 2);
    let Some(color) = make(Content::Color)? else {
        return Err(failed("xrCreateSwapchain")(xr::sys::Result::ERROR_SWAPCHAIN_FORMAT_UNSUPPORTED));
    };
    Ok((color, if has_depth { make(Content::Depth)? } else { None }))
}

/// Returns the composition layer of a panel for both eyes, blended with premultiplied alpha.
fn quad<'a>(panel: &QuadLayer<'a>, space: &'a xr::Space) -> xr::CompositionLayerQuad<'a, xr::Vulkan> {
    let at = &panel.placement;
    let (p, q) = (at.pose.position, at.pose.orientation);
    xr::CompositionLayerQuad::new()
        .layer_flags(xr::CompositionLayerFlags::BLEND_TEXTURE_SOURCE_ALPHA)
        .space(space)
        .eye_visibility(xr::EyeVisibility::BOTH)
        .sub_image(panel.image.layer(0))
        .pose(xr::Posef {
            orientation: xr::Quaternionf { x: q.x, y: q.y, z: q.z, w: q.w },
            position: xr::Vector3f { x: p.x, y: p.y, z: p.z },
        })
        .size(xr::Extent2Df { width: at.size[0], height: at.size[1] })
}

/// Converts an OpenXR view to an [`Eye`]; `None` if the pose is invalid.
fn eye(view: &xr::View) -> Option<Eye> {
    let fov = view.fov;
    let fov = [fov.angle_left, fov.angle_right, fov.angle_up, fov.angle_down];
    Some(Eye { pose: rigid(&view.pose)?, fov })
}
