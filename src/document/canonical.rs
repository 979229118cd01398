//! Content hashes of a canonical form. A float is hashed by its bits (negative zero as zero), a list by its length and
//! then its elements, and a JSON object by its entries in key order. Equal contents have equal hashes on every machine.
//! The patterns name every field of a struct, so that the compiler refuses a new field without a hash.

use super::contents::is_default;
use super::{Document, Target};
use crate::base::math::Trs;
use crate::bind::BindOptions;
use crate::cage::Cage;
use crate::deform::sculpt::{Along, Around, Curve, Profile};
use crate::deform::volume::FirmRegion;
use crate::pose::{BoneChain, Lengths, RootMotion, Stroke, StrokeLayer};
use crate::rig::Pose;
use crate::surface::{Form, Grip, Reach, Region, Round, Sculpt, SurfaceStroke, Surroundings};
use serde_json::Value;

/// A BLAKE3 hasher that writes every value in canonical form.
pub(super) struct Canonical(blake3::Hasher);

impl Canonical {
    /// Starts a hash; `kind` separates hashes of different kinds of data.
    pub fn new(kind: &str) -> Self {
        let mut new = Self(blake3::Hasher::new());
        new.text(kind);
        new
    }

    /// Returns the hash as 64 hexadecimal digits.
    pub fn finish(self) -> String {
        self.0.finalize().to_hex().to_string()
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn count(&mut self, count: usize) {
        self.0.update(&(count as u64).to_le_bytes());
    }

    pub fn float(&mut self, value: f64) {
        // Adding zero turns negative zero into zero.
        self.0.update(&(value + 0.0).to_bits().to_le_bytes());
    }

    pub fn floats(&mut self, values: &[f32]) {
        values.iter().for_each(|v| self.float(f64::from(*v)));
    }

    pub fn trs(&mut self, trs: &Trs) {
        self.floats(&trs.translation);
        self.floats(&trs.rotation);
        self.floats(&trs.scale);
    }

    pub fn pose(&mut self, pose: &Pose) {
        self.count(pose.local.len());
        pose.local.iter().for_each(|t| self.trs(t));
        self.count(pose.weights.len());
        for weights in &pose.weights {
            self.count(weights.len());
            self.floats(weights);
        }
    }

    pub fn stroke(&mut self, stroke: &Stroke) {
        self.count(stroke.knots().len());
        for knot in stroke.knots() {
            self.floats(&knot.position);
            self.floats(&knot.orientation);
            self.floats(&[knot.pressure]);
            self.float(knot.time);
        }
    }

    pub fn layer(&mut self, layer: &StrokeLayer) {
        self.count(layer.id.index());
        self.text(&layer.name);
        self.stroke(&layer.baseline);
        self.count(usize::from(layer.offset.is_some()));
        layer.offset.iter().for_each(|o| self.stroke(o));
        self.count(layer.selection.len());
        for selected in &layer.selection {
            self.count(selected.node.index());
            self.float(selected.t);
        }
        self.floats(&[layer.radius]);
        self.count(usize::from(layer.posing.lengths == Lengths::Stretch));
        self.count(match layer.posing.root {
            RootMotion::Auto => 0,
            RootMotion::Fixed => 1,
            RootMotion::Free => 2,
        });
        self.count(usize::from(layer.posing.roll));
        self.count(usize::from(layer.enabled));
    }

    pub fn mark(&mut self, mark: &SurfaceStroke) {
        self.count(mark.id.index());
        self.text(&mark.name);
        self.count(mark.points.len());
        for point in &mark.points {
            self.count(point.triangle as usize);
            self.floats(&point.barycentrics);
            self.floats(&[point.pressure]);
            self.float(point.time);
            self.count(usize::from(point.lifted));
        }
        self.count(usize::from(mark.closed));
        self.floats(&[mark.radius]);
    }

    pub fn sculpt(&mut self, sculpt: &Sculpt) {
        let Sculpt { id, name, mark, region, form, amplitude, stiffness, enabled, surroundings } = sculpt;
        self.count(id.index());
        self.text(name);
        self.count(mark.map_or(0, |m| m.index() + 1));
        self.region(region);
        match form {
            Form::Drawn(offsets) => {
                self.text("drawn");
                offsets.iter().for_each(|o| self.floats(o));
            }
            Form::Profile(profile) => self.profile(profile),
        }
        self.floats(&[*amplitude, *stiffness]);
        self.count(usize::from(*enabled));
        if let Some(Surroundings { method, offsets }) = surroundings {
            self.text("surroundings");
            self.text(method.name());
            offsets.iter().for_each(|o| self.floats(o));
        }
    }

    fn region(&mut self, region: &Region) {
        let Region { name, reach, softness, kinematic, passive, fixed, falloff, t, round } = region;
        self.text(name);
        match *reach {
            Reach::Edges(n) => self.floats(&[0.0, n as f32]),
            Reach::Euclidean(d) => self.floats(&[1.0, d]),
            Reach::Along(d) => self.floats(&[2.0, d]),
        }
        self.floats(&[*softness]);
        for list in [kinematic, passive, fixed] {
            self.count(list.len());
            list.iter().for_each(|v| self.count(*v as usize));
        }
        self.floats(falloff);
        self.floats(t);
        if let Some(Round { centre, axis, normal, radius }) = round {
            self.text("round");
            [centre, axis, normal].iter().for_each(|v| self.floats(*v));
            self.floats(&[*radius]);
        }
    }

    fn profile(&mut self, profile: &Profile) {
        let Profile { curve, amount, along, around, tilt } = profile;
        self.text("profile");
        self.count(usize::from(*along == Along::Bone));
        self.floats(&[*amount]);
        self.curve(curve);
        if let Some(Around { curve, facing }) = around {
            self.text("around");
            self.curve(curve);
            self.floats(&[*facing]);
        }
        if *tilt != 0.0 {
            self.text("tilt");
            self.floats(&[*tilt]);
        }
    }

    fn curve(&mut self, curve: &Curve) {
        match curve {
            Curve::Even => self.text("even"),
            Curve::Parabola => self.text("parabola"),
            Curve::Ease(easing) => self.text(easing.name()),
            Curve::Wave(wave) => {
                self.text("wave");
                self.floats(&[wave.count, wave.speed, wave.phase]);
            }
        }
    }

    pub fn binding(&mut self, binding: &BindOptions) {
        self.text(binding.method.name());
        self.count(binding.smooth as usize);
        self.text(binding.smoothing.name());
        self.count(binding.planes.len());
        for (joint, turn) in &binding.planes {
            self.count(joint.index());
            self.floats(turn);
        }
        self.count(binding.reattached.len());
        for region in &binding.reattached {
            self.text(&region.name);
            self.count(region.vertices.count());
            region.vertices.iter().for_each(|v| self.count(v as usize));
            self.count(region.joint.map_or(0, |j| 1 + j.index()));
            self.floats(&[region.t.unwrap_or(-1.0)]);
        }
    }

    pub fn cage(&mut self, cage: &Cage) {
        self.text(&cage.name);
        self.count(cage.coordinates as usize);
        self.count(cage.mesh.positions.len());
        cage.mesh.positions.iter().for_each(|x| x.to_array().into_iter().for_each(|v| self.float(v)));
        self.count(cage.mesh.faces.len());
        for face in &cage.mesh.faces {
            self.count(face.len());
            face.iter().for_each(|&v| self.count(v as usize));
        }
        for list in [&cage.joints, &cage.tails] {
            self.count(list.len());
            self.floats(list);
        }
        cage.offsets.iter().for_each(|v| self.floats(v));
    }

    pub fn chain(&mut self, chain: &BoneChain) {
        self.count(chain.id.index());
        self.count(chain.joints.len());
        chain.joints.iter().for_each(|j| self.floats(j));
        self.count(chain.parent.map_or(0, |(id, _)| id.index() + 1));
        self.count(chain.parent.map_or(0, |(_, bone)| bone));
        self.count(chain.partner.map_or(0, |id| id.index() + 1));
    }

    pub fn grip(&mut self, grip: &Grip) {
        let Grip { id, name, vertices, hold, translation, rotation } = grip;
        self.count(id.index());
        self.text(name);
        self.count(vertices.count());
        vertices.iter().for_each(|v| self.count(v as usize));
        self.text(hold.name());
        self.floats(translation);
        self.floats(rotation);
    }

    pub fn firm(&mut self, region: &FirmRegion) {
        let FirmRegion { id, name, factor, vertices, falloff } = region;
        self.count(id.index());
        self.text(name);
        self.floats(&[*factor]);
        self.count(vertices.count());
        vertices.iter().for_each(|v| self.count(v as usize));
        self.count(falloff.len());
        (0..falloff.len()).for_each(|k| self.floats(&[falloff.get(k).unwrap_or(1.0)]));
    }

    pub fn adjustments(&mut self, layer: &StrokeLayer) {
        self.count(layer.id.index());
        self.count(layer.partner.map_or(0, |p| p.index() + 1));
        self.count(layer.adjustments.len());
        for adjustment in &layer.adjustments {
            self.count(adjustment.node.index());
            self.floats(&adjustment.turn);
            self.floats(&adjustment.shift);
            if adjustment.grow != [0.0; 3] {
                self.text("grow");
                self.floats(&adjustment.grow);
            }
        }
    }

    pub fn target(&mut self, target: &Target) {
        match target {
            Target::Node { node, property } => {
                self.text("node");
                self.count(node.index());
                self.count(*property as usize);
            }
            Target::SculptAmplitude(id) => {
                self.text("sculpt amplitude");
                self.count(id.index());
            }
            Target::SculptStiffness(id) => {
                self.text("sculpt stiffness");
                self.count(id.index());
            }
            Target::Cage(vertices) => {
                self.text("cage");
                self.count(*vertices as usize);
            }
            Target::Setting { method, name } => {
                self.text("setting");
                self.text(method);
                self.text(name);
            }
            Target::Grip { grip, property } => {
                self.text("grip");
                self.count(grip.index());
                self.count(*property as usize);
            }
        }
    }

    /// Hashes a JSON value with sorted object keys and all numbers as `f64`.
    pub fn json(&mut self, value: &Value) {
        match value {
            Value::Null => self.text("null"),
            Value::Bool(b) => self.text(if *b { "true" } else { "false" }),
            Value::Number(n) => {
                self.text("number");
                self.float(n.as_f64().unwrap_or(f64::NAN));
            }
            Value::String(s) => {
                self.text("string");
                self.text(s);
            }
            Value::Array(list) => {
                self.text("array");
                self.count(list.len());
                list.iter().for_each(|v| self.json(v));
            }
            Value::Object(map) => {
                self.text("object");
                self.count(map.len());
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                for key in keys {
                    self.text(key);
                    self.json(&map[key]);
                }
            }
        }
    }
}

impl Document {
    /// Returns the hash of the content, 64 hexadecimal digits. The path of the asset file does not affect it.
    pub fn hash(&self) -> String {
        let mut hash = Canonical::new("document 1");
        hash.text(&self.name);
        hash.text(self.asset.as_ref().map_or("", |a| &a.hash));
        hash.pose(&self.pose);
        hash.count(self.strokes.len());
        self.strokes.iter().for_each(|s| hash.layer(s));
        let keys = self.motion.as_poses(&self.pose);
        hash.count(keys.as_ref().map_or(0, Vec::len));
        for key in keys.iter().flatten() {
            hash.float(key.time);
            hash.pose(&key.pose);
        }
        hash.text(&self.deformer.method);
        hash.count(self.deformer.parameters.len());
        for (name, value) in &self.deformer.parameters {
            hash.text(name);
            hash.json(value);
        }
        self.hash_additions(&mut hash);
        if keys.is_none() && !self.motion.is_default() {
            self.motion.hash(&mut hash);
        }
        if !self.poses.is_empty() {
            hash.text("poses 1");
            hash.count(self.poses.len());
            for kept in &self.poses {
                hash.text(&kept.name);
                hash.pose(&kept.pose);
            }
        }
        hash.finish()
    }

    /// Hashes fields added after version 1. If all are empty, the hash equals that of a version 1 document.
    fn hash_additions(&self, hash: &mut Canonical) {
        self.hash_marks(hash);
        if !self.sculpts.is_empty() {
            hash.text("sculpts 1");
            hash.count(self.sculpts.len());
            self.sculpts.iter().for_each(|s| hash.sculpt(s));
        }
        if !self.bones.is_empty() {
            hash.text("bones 1");
            hash.count(self.bones.len());
            self.bones.iter().for_each(|c| hash.chain(c));
        }
        if let Some(cage) = &self.cage {
            hash.text("cage 1");
            hash.cage(cage);
        }
        if !is_default(&self.binding) {
            hash.text("binding 1");
            hash.binding(&self.binding);
        }
        if !self.hidden.is_empty() {
            hash.text("hidden 1");
            hash.count(self.hidden.len());
            self.hidden.iter().for_each(|part| hash.count(*part as usize));
        }
        if !self.grips.is_empty() {
            hash.text("grips 1");
            hash.count(self.grips.len());
            self.grips.iter().for_each(|g| hash.grip(g));
        }
        if !self.firm.is_empty() {
            hash.text("firm 1");
            hash.count(self.firm.len());
            self.firm.iter().for_each(|r| hash.firm(r));
        }
        if !self.limits.is_empty() {
            hash.text("limits 1");
            hash.count(self.limits.len());
            for (node, limit) in &self.limits {
                hash.count(node.index());
                hash.floats(&limit.frame);
                hash.floats(&limit.twist);
                hash.floats(&limit.swing);
            }
        }
    }

    fn hash_marks(&self, hash: &mut Canonical) {
        let adjusted: Vec<&StrokeLayer> =
            self.strokes.iter().filter(|s| !s.adjustments.is_empty() || s.partner.is_some()).collect();
        if self.marks.is_empty() && self.pins.is_empty() && adjusted.is_empty() {
            return;
        }
        hash.text("additions 1");
        hash.count(self.marks.len());
        self.marks.iter().for_each(|m| hash.mark(m));
        hash.count(self.pins.len());
        self.pins.iter().for_each(|p| hash.count(p.index()));
        hash.count(adjusted.len());
        adjusted.into_iter().for_each(|layer| hash.adjustments(layer));
    }
}
