use super::builder::{I8, everything};
use super::told;
use crate::asset::{Interpolation, Property};
use serde_json::json;

#[test]
fn channels_keep_times_values_and_interpolation() {
    let asset = everything().load().unwrap();
    let clip = &asset.clips[0];
    assert_eq!((clip.name.as_str(), clip.duration()), ("move", 2.0));
    let (turn, amount) = (&clip.channels[0], &clip.channels[1]);
    assert_eq!((turn.property, turn.interpolation), (Property::Rotation, Interpolation::Linear));
    assert_eq!(turn.times, [0.0, 0.5, 2.0]);
    assert_eq!(turn.values[4..8], [0.0, 0.6, 0.0, 0.8]);
    assert_eq!((amount.property, amount.interpolation), (Property::Weights, Interpolation::Step));
    assert_eq!(amount.values, [0.0, 1.0, 0.25]);
}

#[test]
fn cubic_splines_keep_their_tangents() {
    let mut b = everything();
    let keys: Vec<f32> =
        (0..3).flat_map(|k| [[9.0, 0.0, k as f32, 7.0], [0.0, 0.0, 0.0, 2.0], [5.0; 4]].concat()).collect();
    let output = b.floats("VEC4", &keys);
    b.json["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE");
    b.json["animations"][0]["samplers"][0]["output"] = json!(output);
    let asset = b.load().unwrap();
    let channel = &asset.clips[0].channels[0];
    assert_eq!(channel.interpolation, Interpolation::CubicSpline);
    assert_eq!(channel.values[12..24], [9.0, 0.0, 1.0, 7.0, 0.0, 0.0, 0.0, 1.0, 5.0, 5.0, 5.0, 5.0]);
    assert!(told(&asset, "channel 0", "3 rotations were not unit"));
}

#[test]
fn integer_rotations_are_fractions() {
    let mut b = everything();
    let bytes: Vec<u8> =
        [[0_i8, 0, 0, 127], [0, 127, 0, 0], [0, 0, -128, 0]].iter().flatten().map(|v| *v as u8).collect();
    let output = b.accessor(&bytes, I8, "VEC4", 3);
    b.json["animations"][0]["samplers"][0]["output"] = json!(output);
    let asset = b.load().unwrap();
    let values = &asset.clips[0].channels[0].values;
    assert_eq!(values[..], [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0]);
}

#[test]
fn flaws_of_an_animation_never_refuse_the_file() {
    let mut b = everything();
    let times = b.floats("SCALAR", &[1.0, 1.0, 0.5]);
    b.json["animations"][0]["samplers"][0]["input"] = json!(times);
    let asset = b.load().unwrap();
    assert_eq!(asset.clips[0].channels[0].times, [1.0]);
    assert!(told(&asset, "animation \"move\" channel 0", "2 keys"));

    let mut b = everything();
    let zero = b.floats("VEC4", &[0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    b.json["animations"][0]["samplers"][0]["output"] = json!(zero);
    let asset = b.load().unwrap();
    assert_eq!(asset.clips[0].channels[0].values, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(told(&asset, "channel 0", "1 keys") && told(&asset, "channel 0", "1 rotations"));

    let mut b = everything();
    b.json["animations"][0]["channels"][0]["target"].as_object_mut().unwrap().remove("node");
    b.json["animations"][0]["channels"][1]["target"]["path"] = json!("colour");
    let asset = b.load().unwrap();
    assert!(asset.clips[0].channels.is_empty() && told(&asset, "channel 1", "path \"colour\" is unknown"));

    let mut b = everything();
    b.json["animations"][0]["channels"][1]["target"]["node"] = json!(1);
    b.json["animations"][0]["samplers"][0]["output"] = json!(0);
    let asset = b.load().unwrap();
    assert!(asset.clips[0].channels.is_empty());
    assert!(told(&asset, "channel 1", "node \"hip\" has none") && told(&asset, "channel 0", "wrong type"));
    b.json["animations"][0]["samplers"][0]["output"] = json!(99);
    assert!(b.refusal().contains("accessor 99"));
}
