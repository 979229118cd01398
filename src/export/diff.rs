//! Computes the differences between an edited JSON tree and the original as a short list of values to restore.

use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Returns the changes from `edited` back to `original`, in the order in which [`restore`] applies them. `first`
/// names a top-level array to which one element was prepended.
///
/// Each entry has `at` (a JSON pointer) and one of these keys. `was` is the original value. If the edited tree lacks
/// the key, `place` additionally gives the key's position in the object. `absent` means that the original lacks the
/// value. `length` is the length to which to truncate an array, and `before` is the number of prepended elements to
/// remove. Restoring keeps the order of keys.
pub(super) fn changes(edited: &Value, original: &Value, first: Option<&str>) -> Vec<Value> {
    let (mut out, mut restored) = (Vec::new(), Vec::new());
    let mut edited = Cow::Borrowed(edited);
    if let Some(name) = first
        && let Some(array) = edited.to_mut().get_mut(name).and_then(Value::as_array_mut)
        && !array.is_empty()
    {
        array.remove(0);
        out.push(json!({ "at": format!("/{name}"), "before": 1 }));
    }
    let missing: Vec<(usize, &String, &Value)> = match (&*edited, original) {
        (Value::Object(e), Value::Object(o)) => {
            let all = o.iter().enumerate().map(|(place, (key, was))| (place, key, was));
            all.filter(|(_, key, _)| !e.contains_key(*key)).collect()
        }
        _ => Vec::new(),
    };
    if missing.is_empty() {
        compare("", &edited, original, &mut out);
        return out;
    }
    // Never store the whole root as one value, because that would duplicate the file.
    let mut kept = original.clone();
    for (place, key, was) in missing {
        kept.as_object_mut().map(|o| o.shift_remove(key));
        restored.push(json!({ "at": format!("/{}", escaped(key)), "was": was, "place": place }));
    }
    compare("", &edited, &kept, &mut out);
    out.extend(restored);
    out
}

/// Returns whether version 1 of the project format can express the changes.
pub(super) fn is_plain(changes: &[Value]) -> bool {
    changes.iter().all(|c| c.get("before").is_none() && c.get("place").is_none())
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn compare(at: &str, edited: &Value, original: &Value, out: &mut Vec<Value>) {
    match (edited, original) {
        (Value::Object(e), Value::Object(o)) if o.keys().all(|k| e.contains_key(k)) => {
            for (key, value) in e {
                let at = format!("{at}/{}", escaped(key));
                match o.get(key) {
                    Some(was) => compare(&at, value, was, out),
                    None => out.push(json!({ "at": at, "absent": true })),
                }
            }
        }
        (Value::Array(e), Value::Array(o)) if e.len() >= o.len() && o.iter().chain(e).any(is_container) => {
            if e.len() > o.len() {
                out.push(json!({ "at": at, "length": o.len() }));
            }
            for (i, (e, o)) in e.iter().zip(o).enumerate() {
                compare(&format!("{at}/{i}"), e, o, out);
            }
        }
        _ if edited == original => {}
        _ => out.push(json!({ "at": at, "was": original })),
    }
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// Applies `changes` to a tree. Returns `None` if an entry does not fit the tree.
pub(super) fn restore(tree: &mut Value, changes: &[Value]) -> Option<()> {
    for change in changes {
        let at = change.get("at")?.as_str()?;
        let parent = || {
            let (parent, key) = at.rsplit_once('/')?;
            Some((parent, key.replace("~1", "/").replace("~0", "~")))
        };
        if let Some(place) = change.get("place") {
            let (place, (parent, key)) = (usize::try_from(place.as_u64()?).ok()?, parent()?);
            let parent: &mut Map<String, Value> = tree.pointer_mut(parent)?.as_object_mut()?;
            (place <= parent.len() && !parent.contains_key(&key)).then_some(())?;
            parent.shift_insert(place, key, change.get("was")?.clone());
        } else if let Some(before) = change.get("before") {
            let array = tree.pointer_mut(at)?.as_array_mut()?;
            let before = usize::try_from(before.as_u64()?).ok()?;
            (before <= array.len()).then_some(())?;
            array.drain(..before);
        } else if let Some(was) = change.get("was") {
            *tree.pointer_mut(at)? = was.clone();
        } else if let Some(length) = change.get("length") {
            let array = tree.pointer_mut(at)?.as_array_mut()?;
            let length = usize::try_from(length.as_u64()?).ok()?;
            (length <= array.len()).then_some(())?;
            array.truncate(length);
        } else {
            let (parent, key) = parent()?;
            let parent: &mut Map<String, Value> = tree.pointer_mut(parent)?.as_object_mut()?;
            parent.shift_remove(&key)?;
        }
    }
    Some(())
}

/// Returns a checksum of a JSON tree and bytes (FNV-1a, 64 bits). It does not depend on the order of keys.
pub(super) fn checksum(json: &Value, bytes: &[u8]) -> String {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.value(json);
    hash.bytes(bytes);
    format!("{:016x}", hash.0)
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort_unstable();
                self.bytes(b"{");
                for key in keys {
                    self.bytes(key.as_bytes());
                    self.bytes(b":");
                    self.value(&map[key]);
                }
                self.bytes(b"}");
            }
            Value::Array(array) => {
                self.bytes(b"[");
                array.iter().for_each(|v| self.value(v));
                self.bytes(b"]");
            }
            leaf => self.bytes(format!("{leaf},").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_edit_is_taken_back_with_key_order() {
        let original = json!({
            "nodes": [{ "name": "a", "matrix": [1, 0], "mesh": 0 }, { "rotation": [0, 0, 0, 1], "x/~y": 1 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 1 } }] }],
            "unknown": { "deep": [[1, 2], [3]] }
        });
        let mut edited = original.clone();
        edited["nodes"][0] = json!({ "name": "a", "mesh": 4, "translation": [1, 2, 3] });
        edited["nodes"][1]["rotation"] = json!([1, 0, 0, 0]);
        edited["nodes"][1]["x/~y"] = json!(2);
        edited["nodes"][1]["new/~key"] = json!([]);
        edited["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": 2 }]);
        edited["meshes"].as_array_mut().unwrap().push(json!({}));
        edited["animations"] = json!([{}]);
        edited["unknown"]["deep"][1] = json!([3, 4]);
        let list = changes(&edited, &original, None);
        restore(&mut edited, &list).unwrap();
        assert_eq!(edited.to_string(), original.to_string());
        assert!(changes(&original, &original, None).is_empty());
    }

    #[test]
    fn what_was_put_first_and_what_was_left_out_is_taken_back() {
        let original =
            json!({ "a": 1, "animations": [{ "name": "walk" }, { "x": 1 }], "b": { "c": 2 }, "d": [3] });
        let mut edited = original.clone();
        edited["animations"].as_array_mut().unwrap().insert(0, json!({ "name": "own" }));
        edited["animations"][2]["x"] = json!([2]);
        edited.as_object_mut().unwrap().shift_remove("a");
        edited.as_object_mut().unwrap().shift_remove("d");
        edited["e"] = json!(4);
        let list = changes(&edited, &original, Some("animations"));
        assert!(!is_plain(&list) && list[0] == json!({ "at": "/animations", "before": 1 }));
        restore(&mut edited, &list).unwrap();
        assert_eq!(edited.to_string(), original.to_string());
    }

    #[test]
    fn broken_lists_are_refused() {
        let tree = json!({ "a": [1] });
        for bad in [
            json!({ "at": "/b", "was": 1 }),
            json!({ "at": "/a", "length": 2 }),
            json!({ "at": "/a/7", "absent": true }),
            json!({ "at": "", "absent": true }),
            json!({ "was": 1 }),
            json!({ "at": "/a", "before": 2 }),
            json!({ "at": "/a", "was": 1, "place": 0 }),
            json!({ "at": "/b", "was": 1, "place": 2 }),
            json!(3),
        ] {
            assert!(restore(&mut tree.clone(), &[bad]).is_none());
        }
    }

    #[test]
    fn checksums_ignore_key_order_only() {
        let a: Value = serde_json::from_str(r#"{"x":1,"y":[1,23]}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{"y":[1,23],"x":1}"#).unwrap();
        let c: Value = serde_json::from_str(r#"{"y":[12,3],"x":1}"#).unwrap();
        assert_eq!(checksum(&a, b"z"), checksum(&b, b"z"));
        assert_ne!(checksum(&a, b"z"), checksum(&c, b"z"));
        assert_ne!(checksum(&a, b"z"), checksum(&a, b"y"));
    }
}
