//! Lossless binary encoding of a frame.

use super::{Eye, TakeFrame};
use crate::base::math::{Quat, Turn, Vec3};
use crate::pose::Fingers;
use crate::scene::SurfaceSample;
use crate::workbench::{Hand, Input, Rigid, Similarity, Tracked, Tracking};

const RIGID: usize = 7 * 4;
const SIMILARITY: usize = RIGID + 4;
const TURN: usize = 3 * 4;
const TRACKED: usize = 1 + RIGID;
const SURFACE: usize = 4 + 9 * 4 + 8 + 4;
const FINGERS: usize = 20 * 4;
const HAND: usize = 2 * TRACKED + 4 * 4 + 1 + SURFACE + FINGERS;
const EYE: usize = RIGID + 4 * 4;
/// Maximum encoded size of a frame with its kind, bytes.
pub(super) const LONGEST: usize = 1 + 8 + 1 + TRACKED + RIGID + SIMILARITY + TURN + 2 * EYE + 2 * HAND;

/// Bits of a frame's flags.
const FOCUSED: u8 = 1;
const RECENTRED: u8 = 2;
const WINDOW: u8 = 4;
const FLOOR: u8 = 8;
/// Bits of a hand's flags.
const UNDO: u8 = 1;
const REDO: u8 = 2;
const MENU: u8 = 4;
const SURFACED: u8 = 8;
const ON_PANEL: u8 = 16;
const OFF_SKIN: u8 = 32;
const FINGERED: u8 = 64;

/// Appends an encoded frame to `out`.
pub(super) fn encode(frame: &TakeFrame, out: &mut Vec<u8>) {
    let Input { time, head, hands, focused, recentred, window, floor } = &frame.input;
    out.extend(time.to_le_bytes());
    let moved =
        flag(recentred.is_some(), RECENTRED) | flag(window.is_some(), WINDOW) | flag(floor.is_some(), FLOOR);
    out.push(flag(*focused, FOCUSED) | moved);
    tracked(head, out);
    if let Some(moved) = recentred {
        rigid(moved, out);
    }
    if let Some(Similarity { translation, rotation, scale }) = window {
        rigid(&Rigid { position: *translation, orientation: *rotation }, out);
        floats(&[*scale], out);
    }
    if let Some(Turn { angle, shift }) = floor {
        floats(&[*angle, shift[0], shift[1]], out);
    }
    for Eye { pose, fov } in &frame.eyes {
        rigid(pose, out);
        floats(fov, out);
    }
    for hand in hands {
        let Hand { grip, aim, draw, grab, stick, undo, redo, menu, surface, fingers, off_skin, on_panel } =
            hand;
        tracked(grip, out);
        tracked(aim, out);
        floats(&[*draw, *grab, stick[0], stick[1]], out);
        let buttons = flag(*undo, UNDO) | flag(*redo, REDO) | flag(*menu, MENU);
        let buttons = buttons | flag(*off_skin, OFF_SKIN) | flag(fingers.is_some(), FINGERED);
        out.push(buttons | flag(surface.is_some(), SURFACED) | flag(*on_panel, ON_PANEL));
        if let Some(SurfaceSample { triangle, barycentrics, position, normal, time, draw }) = surface {
            out.extend(triangle.to_le_bytes());
            floats(barycentrics, out);
            floats(&position.to_array(), out);
            floats(&normal.to_array(), out);
            out.extend(time.to_le_bytes());
            floats(&[*draw], out);
        }
        if let Some(Fingers { bends, spreads }) = fingers {
            floats(bends.as_flattened(), out);
            floats(spreads, out);
        }
    }
}

fn flag(on: bool, bit: u8) -> u8 {
    if on { bit } else { 0 }
}

fn floats(values: &[f32], out: &mut Vec<u8>) {
    out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
}

fn rigid(pose: &Rigid, out: &mut Vec<u8>) {
    floats(&pose.position.to_array(), out);
    floats(&pose.orientation.to_array(), out);
}

fn tracked(at: &Tracked, out: &mut Vec<u8>) {
    out.push(at.tracking as u8);
    rigid(&at.pose, out);
}

/// Decodes a frame, or returns a description of the error.
pub(super) fn decode(bytes: &[u8]) -> Result<TakeFrame, &'static str> {
    let mut bytes = Bytes(bytes);
    let mut frame = TakeFrame::default();
    let input = &mut frame.input;
    input.time = bytes.double()?;
    let flags = bytes.flags(FOCUSED | RECENTRED | WINDOW | FLOOR)?;
    input.focused = flags & FOCUSED != 0;
    input.head = bytes.tracked()?;
    if flags & RECENTRED != 0 {
        input.recentred = Some(bytes.rigid()?);
    }
    if flags & WINDOW != 0 {
        let Rigid { position: translation, orientation: rotation } = bytes.rigid()?;
        let [scale] = bytes.floats()?;
        input.window = Some(Similarity { translation, rotation, scale });
    }
    if flags & FLOOR != 0 {
        let [angle, x, z] = bytes.floats()?;
        input.floor = Some(Turn { angle, shift: [x, z] });
    }
    for eye in &mut frame.eyes {
        *eye = Eye { pose: bytes.rigid()?, fov: bytes.floats()? };
    }
    for hand in &mut input.hands {
        (hand.grip, hand.aim) = (bytes.tracked()?, bytes.tracked()?);
        let [draw, grab, x, y] = bytes.floats()?;
        (hand.draw, hand.grab, hand.stick) = (draw, grab, [x, y]);
        let flags = bytes.flags(UNDO | REDO | MENU | SURFACED | ON_PANEL | OFF_SKIN | FINGERED)?;
        (hand.undo, hand.redo, hand.menu) = (flags & UNDO != 0, flags & REDO != 0, flags & MENU != 0);
        (hand.on_panel, hand.off_skin) = (flags & ON_PANEL != 0, flags & OFF_SKIN != 0);
        if flags & SURFACED != 0 {
            hand.surface = Some(SurfaceSample {
                triangle: u32::from_le_bytes(bytes.take()?),
                barycentrics: bytes.floats()?,
                position: bytes.floats::<3>()?.into(),
                normal: bytes.floats::<3>()?.into(),
                time: bytes.double()?,
                draw: bytes.floats::<1>()?[0],
            });
        }
        if flags & FINGERED != 0 {
            let mut fingers = Fingers::default();
            for bends in &mut fingers.bends {
                *bends = bytes.floats()?;
            }
            fingers.spreads = bytes.floats()?;
            hand.fingers = Some(fingers);
        }
    }
    if bytes.0.is_empty() { Ok(frame) } else { Err("it is too long") }
}

/// The bytes left to read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or("it is too short")?;
        self.0 = rest;
        Ok(*head)
    }

    fn double(&mut self) -> Result<f64, &'static str> {
        let value = f64::from_le_bytes(self.take()?);
        if value.is_finite() { Ok(value) } else { Err("a time is no number") }
    }

    fn floats<const N: usize>(&mut self) -> Result<[f32; N], &'static str> {
        let mut out = [0.0; N];
        for value in &mut out {
            *value = f32::from_le_bytes(self.take()?);
        }
        if out.iter().all(|v| v.is_finite()) { Ok(out) } else { Err("a value is no number") }
    }

    fn flags(&mut self, known: u8) -> Result<u8, &'static str> {
        let [flags] = self.take()?;
        if flags & !known == 0 { Ok(flags) } else { Err("it has unknown flags") }
    }

    fn rigid(&mut self) -> Result<Rigid, &'static str> {
        let position = Vec3::from_array(self.floats()?);
        let orientation = Quat::from_array(self.floats()?);
        if (orientation.length_squared() - 1.0).abs() > 0.1 {
            return Err("a turn is no unit quaternion");
        }
        Ok(Rigid { position, orientation })
    }

    fn tracked(&mut self) -> Result<Tracked, &'static str> {
        let tracking = match self.take()? {
            [0] => Tracking::Lost,
            [1] => Tracking::Inferred,
            [2] => Tracking::Tracked,
            _ => return Err("a pose has an unknown quality"),
        };
        Ok(Tracked { tracking, pose: self.rigid()? })
    }
}
