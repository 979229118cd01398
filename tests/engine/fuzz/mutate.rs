//! Mutations of bytes and of JSON, by seed.

use serde_json::{Number, Value, json};
use sinew::base::Random;

/// Random choices of the mutations.
pub trait Draw {
    /// Returns true with probability `1 / count`.
    fn once_in(&mut self, count: usize) -> bool;
    /// Returns a random element.
    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T;
}

impl Draw for Random {
    fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Floats that often break arithmetic.
const FLOATS: [f32; 12] =
    [0.0, -0.0, 1.0, -1.0, 1e-38, 1e-45, 1e10, -1e30, f32::MAX, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// Flips bits, overwrites, cuts, removes, doubles or moves spans: one to three times.
pub fn bytes(content: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let length = content.len();
        let at = random.below(length);
        let span = at..(at + 1 + random.below(64)).min(length);
        match random.below(10) {
            _ if content.is_empty() => content.extend([random.bits() as u8; 4]),
            0..=2 => content[at] ^= 1 << random.below(8),
            3 => content[at] = *random.pick(&[0, 1, 0x7F, 0x80, 0xFF, b'"', b'\n', b'{']),
            4 => content.truncate(at),
            5 => drop(content.drain(span)),
            6 => {
                let copy = content[span].to_vec();
                let to = random.below(length + 1);
                content.splice(to..to, copy);
            }
            7 => {
                let copy = content[span].to_vec();
                let to = random.below(length + 1 - copy.len());
                content[to..to + copy.len()].copy_from_slice(&copy);
            }
            8 if length >= 4 => {
                let to = random.below(length - 3) & !3;
                content[to..to + 4].copy_from_slice(&random.pick(&FLOATS).to_le_bytes());
            }
            _ if length >= 4 => {
                let word: u32 = *random.pick(&[0, 1, 255, 65_535, 1 << 28, u32::MAX - 3, u32::MAX]);
                let to = random.below(length - 3);
                content[to..to + 4].copy_from_slice(&word.to_le_bytes());
            }
            _ => content[at] = content[at].wrapping_add(1),
        }
    }
}

/// Path of a JSON value: keys and indices from the root.
type Path = Vec<Step>;

#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

fn paths(value: &Value, here: &Path, out: &mut Vec<Path>) {
    out.push(here.clone());
    let mut go = |step: Step, child: &Value| {
        let mut there = here.clone();
        there.push(step);
        paths(child, &there, out);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| go(Step::Key(k.clone()), v)),
        // Long arrays of numbers would otherwise get most mutations.
        Value::Array(list) => list.iter().enumerate().take(24).for_each(|(i, v)| go(Step::Index(i), v)),
        _ => {}
    }
}

fn at<'a>(root: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(i) => value.get_mut(*i),
    })
}

fn number(old: &Number, random: &mut Random) -> Value {
    let was = old.as_f64().unwrap_or(0.0);
    match random.below(12) {
        0 => json!(was + 1.0),
        1 => json!(was - 1.0),
        2 => json!(-was),
        3 => json!(was * 1e6),
        4 => json!(1e308),
        5 => json!(-1e38),
        6 => json!(1e-42),
        7 => json!(u64::MAX),
        8 => json!(0),
        9 => json!(old.as_i64().unwrap_or(0).wrapping_add(1)),
        10 => json!(random.below(64)),
        _ => json!(old.as_u64().unwrap_or(0) / 2),
    }
}

fn anything(random: &mut Random) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(""),
        3 => json!([]),
        4 => json!({}),
        5 => json!(-1),
        6 => json!("NaN"),
        7 => json!(1e300),
        8 => json!(4_294_967_295_u32),
        9 => json!("x".repeat(2000)),
        10 => json!([[[[0]]]]),
        _ => json!(0.5),
    }
}

/// Changes the structure or the values of a JSON tree: one to three times.
pub fn tree(root: &mut Value, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let mut all = Vec::new();
        paths(root, &Vec::new(), &mut all);
        let path = random.pick(&all).clone();
        let other = random.pick(&all).clone();
        let copy = at(root, &other).map(|v| v.clone()).unwrap_or_default();
        let Some(value) = at(root, &path) else { continue };
        match (random.below(9), &mut *value) {
            (0..=4, Value::Number(old)) => *value = number(old, random),
            (0 | 1, Value::Object(map)) if !map.is_empty() => {
                let key = map.keys().nth(random.below(map.len())).cloned().unwrap_or_default();
                map.shift_remove(&key);
            }
            (2, Value::Object(map)) => {
                let key = map.keys().nth(random.below(map.len())).cloned().unwrap_or_default();
                if let Some(old) = map.shift_remove(&key) {
                    map.insert(format!("{key}_"), old);
                }
            }
            (0, Value::Array(list)) if !list.is_empty() => drop(list.remove(random.below(list.len()))),
            (1, Value::Array(list)) if !list.is_empty() => {
                let again = random.pick(list).clone();
                list.insert(random.below(list.len() + 1), again);
            }
            (2, Value::Array(list)) => list.truncate(random.below(list.len())),
            (3, Value::Array(list)) if list.len() > 1 => {
                let (a, b) = (random.below(list.len()), random.below(list.len()));
                list.swap(a, b);
            }
            (4, Value::Array(list)) if list.len() < 64 => list.extend(list.clone()),
            (0..=2, Value::String(text)) => text.push('\u{fc}'),
            (3, Value::Bool(on)) => *on = !*on,
            (5 | 6, _) => *value = copy,
            _ => *value = anything(random),
        }
        // Repeated copies would grow without limit.
        if serde_json::to_vec(root).map_or(0, |text| text.len()) > 1 << 21 {
            return;
        }
    }
}
