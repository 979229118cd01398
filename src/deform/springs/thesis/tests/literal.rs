//! Equations 21-23 of the thesis word by word, in double precision. Shares no code with the springs: it takes the bind
//! pose, the attachment of every vertex (bone and position along it) and the posed bones.

use crate::base::math::{DQuat, DVec3};
use crate::deform::Bound;
use crate::rig::PosedRig;
use std::collections::BTreeSet;

/// All stiffnesses are 1, and so is the unit of length.
pub struct Literal {
    pub x: Vec<DVec3>,
    bind: Vec<DVec3>,
    /// `s` in the bind pose.
    rest: Vec<DVec3>,
    /// `a'`.
    attachment: Vec<DVec3>,
    /// The rotation of a vertex's bone from the bind pose.
    turn: Vec<DQuat>,
    /// The bone run `c - p`, in the bind pose and now.
    run: Vec<[DVec3; 2]>,
    rings: Vec<BTreeSet<usize>>,
    /// `AABBmin`.
    smallest: f64,
}

impl Literal {
    pub fn new(bound: &Bound, rig: &PosedRig) -> Self {
        let (character, attach) = (&bound.character, &bound.attachments);
        let bind: Vec<DVec3> = character.control.positions.iter().map(|x| x.as_dvec3()).collect();
        let mut rings = vec![BTreeSet::new(); bind.len()];
        for t in &character.control.triangles {
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                rings[t[a] as usize].insert(t[b] as usize);
                rings[t[b] as usize].insert(t[a] as usize);
            }
        }
        let [low, high] = [DVec3::min, DVec3::max].map(|f| bind.iter().copied().reduce(f).unwrap());
        let mut out = Self {
            x: Vec::new(),
            rest: Vec::new(),
            attachment: Vec::new(),
            turn: Vec::new(),
            run: Vec::new(),
            rings,
            smallest: (high - low).min_element(),
            bind,
        };
        for (i, x) in out.bind.iter().enumerate() {
            let b = attach.bone[i].index();
            let (bone, posed) = (&character.skeleton.bones[b], &rig.bones[b]);
            let [p, c, p2, c2] = [bone.head, bone.tail, posed.head, posed.tail].map(|v| v.as_dvec3());
            let (t, r) = (f64::from(attach.t[i]), posed.rotation.as_dquat().normalize());
            let s = *x - (p + (c - p) * t);
            out.rest.push(s);
            out.attachment.push(p2 + (c2 - p2) * t);
            out.turn.push(r);
            out.run.push([c - p, c2 - p2]);
            // Rigid skinning.
            out.x.push(out.attachment[i] + r * s);
        }
        out
    }

    /// The signed angle from `s_i` to `s_j`: negative where they have changed sides since the bind pose.
    fn signed(&self, s: [DVec3; 2], i: usize, j: usize) -> (f64, DVec3) {
        let (a, b) = (self.turn[i], self.turn[j]);
        let mean = (a + if a.dot(b) < 0.0 { -b } else { b }).normalize();
        let normal = mean * self.rest[i].cross(self.rest[j]);
        let sign = if s[0].cross(s[1]).dot(normal) < 0.0 { -1.0 } else { 1.0 };
        (sign * s[0].angle_between(s[1]), self.towards(s[0], s[1]) * sign)
    }

    /// The unit direction orthogonal to `s`, towards `target`.
    fn towards(&self, s: DVec3, target: DVec3) -> DVec3 {
        target.reject_from(s).normalize_or_zero()
    }

    fn scale(&self, i: usize) -> DVec3 {
        self.x[i] - self.attachment[i]
    }

    /// Equation 22.
    pub fn force(&self, i: usize) -> DVec3 {
        let s = self.scale(i);
        let mut net = DVec3::ZERO;
        for &j in &self.rings[i] {
            let sj = self.scale(j);
            // Surface springs: the edge's length.
            let edge = self.x[j] - self.x[i];
            net += edge.normalize() * (edge.length() - self.bind[j].distance(self.bind[i]));
            // Length springs: the difference of the lengths of the scale vectors.
            let lengths = (sj.length() - s.length()) - (self.rest[j].length() - self.rest[i].length());
            net += s.normalize() * lengths;
            // Torsion springs: the angle of the scale vectors. The torque becomes a force by division.
            let (angle, towards) = self.signed([s, sj], i, j);
            let torque = angle - self.rest[i].angle_between(self.rest[j]);
            net += towards * (torque / s.length());
        }
        // Bone springs: the angle between scale vector and bone run.
        let [before, now] = self.run[i];
        let torque = s.angle_between(now) - self.rest[i].angle_between(before);
        net + self.towards(s, now) * (torque / s.length())
    }

    /// Equation 23, until no vertex moves by more than `AABBmin x 1e-4`, at most `most` times. Returns the count.
    pub fn run(&mut self, most: u32) -> u32 {
        for k in 0..most {
            let moves: Vec<DVec3> = (0..self.x.len()).map(|i| self.force(i) * (1.0 / 30.0)).collect();
            self.x.iter_mut().zip(&moves).for_each(|(x, m)| *x += *m);
            if moves.iter().all(|m| m.length() < self.smallest * 1e-4) {
                return k + 1;
            }
        }
        most
    }

    /// The total energy of all springs.
    pub fn energy(&self) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.x.len() {
            let s = self.scale(i);
            for &j in self.rings[i].range(i + 1..) {
                let sj = self.scale(j);
                let length = self.x[j].distance(self.x[i]) - self.bind[j].distance(self.bind[i]);
                let lengths = (sj.length() - s.length()) - (self.rest[j].length() - self.rest[i].length());
                let angle = self.signed([s, sj], i, j).0 - self.rest[i].angle_between(self.rest[j]);
                sum += length * length + lengths * lengths + angle * angle;
            }
            let [before, now] = self.run[i];
            sum += (s.angle_between(now) - self.rest[i].angle_between(before)).powi(2);
        }
        0.5 * sum
    }
}
