//! The puppet's script language: one action per line. Actions run in order; if a line ends with `&`, the next line
//! starts at the same time.

use super::packet::{Controller, PuppetState};
use crate::base::math::{EulerRot, Quat, Vec3};
use crate::base::{Error, Result};
use crate::workbench::Rigid;
use std::path::Path;

/// Help text of the script language.
pub const GRAMMAR: &str = "\
One action a line, done one after the other; & at a line's end starts the next line with it; # starts a comment.
Metres, degrees, seconds; y is up, x to the right, the user looks along -z. Without `over` it happens at once.

  head|left|right  at X Y Z [over S]             move to there in a straight line
  head|left|right  by X Y Z [over S]             move by so much
  head|left|right  arc X Y Z  AX AY AZ  DEG [over S]
                                                 turn about the axis A through the point, position and direction
  head|left|right  turn YAW PITCH ROLL [over S]  turn: yaw to the left, pitch upwards, roll to the left
  head|left|right  look X Y Z [over S]           point at there
  left|right       trigger|squeeze|force V [over S]   0 to 1
  left|right       stick|pad X Y [over S]        -1 to 1 each, right and up
  left|right       press|release BUTTON          system, a, b, trigger, stick, pad
  lose left|right, find left|right               tracking
  wait S
";

/// A parsed script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Groups of actions that start together, in the order in which they run.
    pub(super) groups: Vec<Vec<Action>>,
}

/// One action of a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Action {
    pub device: Device,
    pub what: What,
    /// Duration, seconds; 0 means that the action is immediate.
    pub over: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Head,
    Hand(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    At(Vec3),
    By(Vec3),
    Arc { centre: Vec3, axis: Vec3, angle: f32 },
    Turn(Quat),
    Look(Vec3),
    Value(Value, [f32; 2]),
    Button(Button, bool),
    Tracked(bool),
    Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Trigger,
    Squeeze,
    Force,
    Stick,
    Pad,
}

impl Value {
    pub fn get(self, c: &Controller) -> [f32; 2] {
        match self {
            Self::Trigger => [c.trigger, 0.0],
            Self::Squeeze => [c.squeeze, 0.0],
            Self::Force => [c.squeeze_force, 0.0],
            Self::Stick => c.stick,
            Self::Pad => c.pad,
        }
    }

    pub fn set(self, c: &mut Controller, [x, y]: [f32; 2]) {
        match self {
            Self::Trigger => c.trigger = x,
            Self::Squeeze => c.squeeze = x,
            Self::Force => c.squeeze_force = x,
            Self::Stick => c.stick = [x, y],
            Self::Pad => c.pad = [x, y],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Button {
    System,
    A,
    B,
    Trigger,
    Stick,
    Pad,
}

impl Button {
    /// Presses or releases the button; a pressed button is also touched.
    pub fn set(self, c: &mut Controller, down: bool) {
        let b = &mut c.buttons;
        let (click, touch) = match self {
            Self::System => (Some(&mut b.system_click), &mut b.system_touch),
            Self::A => (Some(&mut b.a_click), &mut b.a_touch),
            Self::B => (Some(&mut b.b_click), &mut b.b_touch),
            Self::Trigger => (Some(&mut b.trigger_click), &mut b.trigger_touch),
            Self::Stick => (Some(&mut b.stick_click), &mut b.stick_touch),
            Self::Pad => (None, &mut b.pad_touch),
        };
        *touch = down;
        if let Some(click) = click {
            *click = down;
        }
    }
}

impl Device {
    pub fn pose(self, state: &mut PuppetState) -> &mut Rigid {
        match self {
            Self::Head => &mut state.head,
            Self::Hand(i) => &mut state.hands[i].pose,
        }
    }
}

impl Script {
    /// Reads and parses a script file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::read(&std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?, path)
    }

    /// Parses a script; `path` appears in error messages.
    pub fn read(text: &str, path: &Path) -> Result<Self> {
        let (mut groups, mut joined) = (Vec::<Vec<Action>>::new(), false);
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (line, joins) = line.strip_suffix('&').map_or((line, false), |l| (l, true));
            let action = action(&mut line.split_whitespace()).map_err(|problem| {
                Error::broken(
                    path,
                    format!("line {}", number + 1),
                    problem,
                    "tools/xr-puppet --help tells the language",
                )
            })?;
            match groups.last_mut() {
                Some(group) if joined => group.push(action),
                _ => groups.push(vec![action]),
            }
            joined = joins;
        }
        Ok(Self { groups })
    }

    /// Returns the total duration, seconds.
    pub fn duration(&self) -> f64 {
        self.groups.iter().map(|g| g.iter().map(|a| a.over).fold(0.0, f64::max)).sum()
    }
}

type Words<'a> = dyn Iterator<Item = &'a str> + 'a;

fn action<'a>(words: &mut Words<'a>) -> Result<Action, String> {
    let first = words.next().unwrap_or_default();
    let mut action = match first {
        "wait" => Action { device: Device::Head, what: What::Wait, over: seconds(words.next())? },
        "lose" | "find" => {
            let device = device(words.next().unwrap_or_default())?;
            if device == Device::Head {
                return Err("the head is always tracked".into());
            }
            Action { device, what: What::Tracked(first == "find"), over: 0.0 }
        }
        _ => {
            let device = device(first)?;
            Action { device, what: what(device, words)?, over: 0.0 }
        }
    };
    match words.next() {
        None => {}
        Some("over") if !matches!(action.what, What::Wait | What::Tracked(_) | What::Button(..)) => {
            action.over = seconds(words.next())?;
        }
        Some(word) => return Err(format!("{word:?} is too much")),
    }
    words.next().map_or(Ok(action), |word| Err(format!("{word:?} is too much")))
}

fn device(word: &str) -> Result<Device, String> {
    match word {
        "head" => Ok(Device::Head),
        "left" => Ok(Device::Hand(0)),
        "right" => Ok(Device::Hand(1)),
        _ => Err(format!("{word:?} is no action; write head, left, right, lose, find or wait")),
    }
}

fn what<'a>(device: Device, words: &mut Words<'a>) -> Result<What, String> {
    let verb = words.next().unwrap_or_default();
    let hand = matches!(device, Device::Hand(_));
    Ok(match verb {
        "at" => What::At(Vec3::from_array(numbers(words, 1e3)?)),
        "by" => What::By(Vec3::from_array(numbers(words, 1e3)?)),
        "look" => What::Look(Vec3::from_array(numbers(words, 1e3)?)),
        "turn" => {
            let [yaw, pitch, roll] = numbers(words, 3600.0)?.map(f32::to_radians);
            What::Turn(Quat::from_euler(EulerRot::YXZ, yaw, pitch, roll))
        }
        "arc" => {
            let [x, y, z, ax, ay, az, angle] = numbers(words, 3.6e4)?;
            let axis = Vec3::new(ax, ay, az).try_normalize().ok_or("the axis has no length")?;
            What::Arc { centre: Vec3::new(x, y, z), axis, angle: angle.to_radians() }
        }
        "trigger" | "squeeze" | "force" if hand => {
            let value = match verb {
                "trigger" => Value::Trigger,
                "squeeze" => Value::Squeeze,
                _ => Value::Force,
            };
            let [x] = numbers(words, 1.0)?;
            What::Value(value, [x, 0.0])
        }
        "stick" if hand => What::Value(Value::Stick, numbers(words, 1.0)?),
        "pad" if hand => What::Value(Value::Pad, numbers(words, 1.0)?),
        "press" | "release" if hand => {
            let button = match words.next().unwrap_or_default() {
                "system" => Button::System,
                "a" => Button::A,
                "b" => Button::B,
                "trigger" => Button::Trigger,
                "stick" => Button::Stick,
                "pad" => Button::Pad,
                other => {
                    return Err(format!("{other:?} is no button; write system, a, b, trigger, stick or pad"));
                }
            };
            What::Button(button, verb == "press")
        }
        _ => return Err(format!("{verb:?} is nothing that this device can do")),
    })
}

fn numbers<'a, const N: usize>(words: &mut Words<'a>, most: f32) -> Result<[f32; N], String> {
    let mut out = [0.0_f32; N];
    for value in &mut out {
        let word = words.next().ok_or_else(|| format!("{N} numbers are needed"))?;
        *value = word.parse().map_err(|_| format!("{word:?} is no number"))?;
        if value.is_nan() || value.abs() > most {
            return Err(format!("{word} is not within {most}"));
        }
    }
    Ok(out)
}

fn seconds(word: Option<&str>) -> Result<f64, String> {
    let word = word.ok_or("how many seconds?")?;
    match word.parse() {
        Ok(s) if (0.0..=1e5_f64).contains(&s) => Ok(s),
        _ => Err(format!("{word:?} is no number of seconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Script> {
        Script::read(text, Path::new("x.puppet"))
    }

    #[test]
    fn lines_follow_each_other_unless_joined() {
        let script = read(
            "# greet\nhead at 0 1.6 0\nright by 0 0.1 0 over 0.5 &  # both\nleft arc 0 1 0 0 2 0 90 over 2\n\nwait 1\nlose left",
        )
        .unwrap();
        assert_eq!(script.groups.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1, 1]);
        assert_eq!(script.duration(), 3.0);
        let arc = What::Arc { centre: Vec3::Y, axis: Vec3::Y, angle: 90_f32.to_radians() };
        assert_eq!(script.groups[1][1], Action { device: Device::Hand(0), what: arc, over: 2.0 });
        assert_eq!(read("").unwrap(), Script::default());
    }

    #[test]
    fn what_cannot_be_done_names_its_line() {
        for (text, problem) in [
            ("wait 1\nfoot at 0 0 0", "line 2: \"foot\" is no action"),
            ("head at 0 1", "3 numbers are needed"),
            ("head at 0 1 x", "\"x\" is no number"),
            ("head at 0 1 nan", "not within"),
            ("head at 0 1 2 3", "\"3\" is too much"),
            ("head trigger 1", "nothing that this device can do"),
            ("right trigger 2", "2 is not within 1"),
            ("right press c", "no button"),
            ("right press a over 2", "\"over\" is too much"),
            ("right at 0 1 0 over", "how many seconds?"),
            ("right at 0 1 0 over -1", "no number of seconds"),
            ("right at 0 1 0 over 1 2", "\"2\" is too much"),
            ("left arc 0 0 0 0 0 0 90", "the axis has no length"),
            ("lose head", "always tracked"),
            ("wait", "how many seconds?"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(problem) && error.contains("x.puppet: line "), "{text}: {error}");
        }
    }
}
