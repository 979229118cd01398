//! The part of the skin that the outline surrounds: the skin that a joint moves, or the skin that a sculpt layer moves.

use crate::base::{JointId, NodeId, SculptId};
use crate::bind::Character;
use crate::gpu::Frame;
use crate::render::Scene;
use crate::surface::{Region, segment_bones};

/// What is outlined.
#[derive(Clone, Copy, Debug)]
pub enum Outlined<'a> {
    /// The skin of which a joint and its twist joints have at least half of the weights. For a joint without such skin, the
    /// skin of the joint and of all joints below.
    Joint(NodeId),
    /// The skin that a sculpt layer moves.
    Layer(SculptId, &'a Region),
}

/// The outlined part of a character.
pub(super) struct Outline {
    /// Per joint: the joint and its twist joints.
    groups: Vec<Vec<JointId>>,
    /// Per joint: its range in `triangles`.
    first: Vec<u32>,
    /// Display triangles that the joints of a group move with at least half of the weights of a corner, ascending per joint.
    triangles: Vec<u32>,
    shown: Shown,
    /// Share of each display vertex.
    shares: Vec<f32>,
    /// The triangles of the part.
    part: Vec<u32>,
    /// Whether the part is not uploaded yet.
    new: bool,
}

/// What an outline shows.
#[derive(PartialEq)]
enum Shown {
    Nothing,
    Joint(NodeId),
    /// The kinematic and the passive vertices of a layer.
    Layer(SculptId, [Vec<u32>; 2]),
}

impl Shown {
    fn is(&self, what: Option<Outlined<'_>>) -> bool {
        match (self, what) {
            (Self::Nothing, None) => true,
            (Self::Joint(a), Some(Outlined::Joint(b))) => *a == b,
            (Self::Layer(a, [kinematic, passive]), Some(Outlined::Layer(b, region))) => {
                *a == b && *kinematic == region.kinematic && *passive == region.passive
            }
            _ => false,
        }
    }
}

impl Outline {
    /// Finds the skin of every joint. Takes as long as a pass over the mesh.
    pub fn new(character: &Character) -> Self {
        let skeleton = &character.skeleton;
        let count = skeleton.joints.len();
        let group = |joint: usize| {
            let joint = JointId::from(joint);
            let own = segment_bones(skeleton, joint).into_iter().map(|b| skeleton.bones[b.index()].parent);
            let mut group: Vec<JointId> = own.chain([joint]).collect();
            group.sort_unstable();
            group.dedup();
            group
        };
        let groups: Vec<Vec<JointId>> = (0..count).map(group).collect();
        let mut of_joint = vec![Vec::new(); count];
        for (index, group) in groups.iter().enumerate() {
            group.iter().for_each(|joint| of_joint[joint.index()].push(index));
        }
        // At most two groups that share no joint have half of a vertex.
        let mut weights = vec![0.0f32; count];
        let control = &character.control;
        let mut main = Vec::with_capacity(control.positions.len());
        for v in 0..control.positions.len() {
            let touched = || {
                control
                    .influences
                    .of(v)
                    .flat_map(|(j, w)| of_joint[usize::from(j)].iter().map(move |g| (*g, w)))
            };
            touched().for_each(|(g, w)| weights[g] += w);
            let mut own: Vec<u32> =
                touched().map(|(g, _)| g as u32).filter(|g| weights[*g as usize] >= 0.5).collect();
            touched().for_each(|(g, _)| weights[g] = 0.0);
            own.sort_unstable();
            own.dedup();
            main.push(own);
        }
        let display = &character.display;
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut of_triangle: Vec<u32> = Vec::new();
        for (t, corners) in display.triangles.iter().enumerate() {
            of_triangle.clear();
            of_triangle.extend(corners.iter().flat_map(|v| &main[display.control_of[*v as usize] as usize]));
            of_triangle.sort_unstable();
            of_triangle.dedup();
            of_triangle.iter().for_each(|g| lists[*g as usize].push(t as u32));
        }
        let mut first = vec![0];
        let mut triangles = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for list in &lists {
            triangles.extend(list);
            first.push(triangles.len() as u32);
        }
        Self {
            groups,
            first,
            triangles,
            shown: Shown::Nothing,
            shares: vec![0.0; display.positions.len()],
            part: Vec::with_capacity(display.triangles.len()),
            new: false,
        }
    }

    /// Outlines another part, or nothing. Returns whether the outline changed.
    pub fn show(&mut self, character: &Character, what: Option<Outlined<'_>>) -> bool {
        if self.shown.is(what) {
            return false;
        }
        self.new = true;
        let display = &character.display;
        for t in self.part.drain(..) {
            display.triangles[t as usize].iter().for_each(|v| self.shares[*v as usize] = 0.0);
        }
        match what {
            None => self.shown = Shown::Nothing,
            Some(Outlined::Joint(node)) => {
                self.shown = Shown::Joint(node);
                self.show_joint(character, node);
            }
            Some(Outlined::Layer(id, region)) => {
                let moved = [&region.kinematic, &region.passive];
                self.shown = Shown::Layer(id, moved.map(Clone::clone));
                let mut shares = vec![0.0f32; character.control.positions.len()];
                moved.into_iter().flatten().for_each(|v| {
                    if let Some(share) = shares.get_mut(*v as usize) {
                        *share = 1.0;
                    }
                });
                self.show_control(character, |v| shares[v]);
            }
        }
        true
    }

    fn show_joint(&mut self, character: &Character, node: NodeId) {
        let skeleton = &character.skeleton;
        let joint = skeleton.nodes.get(node.index()).and_then(|n| n.joint);
        let own = joint.map(|j| [0, 1].map(|i| self.first[j.index() + i] as usize));
        let own = own.map_or(&[][..], |[from, to]| &self.triangles[from..to]);
        let weight = |v: usize, joints: &dyn Fn(JointId) -> bool| -> f32 {
            let of =
                character.control.influences.of(v).filter(|(j, _)| joints(JointId::from(usize::from(*j))));
            of.map(|(_, w)| w).sum()
        };
        if let Some(joint) = joint.filter(|_| !own.is_empty()) {
            self.part.extend(own);
            let group = &self.groups[joint.index()];
            let display = &character.display;
            for v in self.part.iter().flat_map(|t| display.triangles[*t as usize]) {
                let control = display.control_of[v as usize] as usize;
                self.shares[v as usize] = weight(control, &|j| group.contains(&j));
            }
            return;
        }
        // Parents come before children.
        let mut below = vec![false; skeleton.nodes.len()];
        for id in &skeleton.order {
            let parent = skeleton.nodes[id.index()].parent;
            below[id.index()] = *id == node || parent.is_some_and(|p| below[p.index()]);
        }
        let follows: Vec<bool> = skeleton.joints.iter().map(|j| below[j.node.index()]).collect();
        self.show_control(character, |v| weight(v, &|j| follows[j.index()]));
    }

    /// Shows the skin whose control vertices have these shares.
    fn show_control(&mut self, character: &Character, share: impl Fn(usize) -> f32) {
        let display = &character.display;
        for (t, corners) in display.triangles.iter().enumerate() {
            let shares = corners.map(|v| share(display.control_of[v as usize] as usize));
            if shares.iter().any(|s| *s >= 0.5) {
                self.part.push(t as u32);
                corners.iter().zip(shares).for_each(|(v, s)| self.shares[*v as usize] = s);
            }
        }
    }

    /// Records the upload of a new part.
    pub fn record(&mut self, frame: &mut Frame, scene: &mut Scene, character: &Character) {
        if std::mem::take(&mut self.new) {
            scene.outline(frame, &character.display, &self.part, &self.shares);
        }
    }
}

#[cfg(test)]
mod tests;
