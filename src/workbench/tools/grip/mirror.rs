//! Mirrored grips. Two grips are *partners* if each is the grip nearest to the other's mirror image. With *Mirror* on,
//! a new grip gets a partner, and what a hand or a panel does to a grip happens to its partner as the mirror image.

use super::GripTool;
use super::shown::{ShownGrip, drawn};
use crate::base::GripId;
use crate::base::math::{Vec3, rotation_of};
use crate::document::Edit;
use crate::rig::{GripHold, GripPose, Mirror, Plane, Pose, PosedRig};
use crate::surface::{Grip, SurfacePoint, mirrored_points};
use crate::workbench::tools::{EditContext, paint};
use std::collections::HashMap;

/// Maximum distance between a grip and the mirror image of its partner, as a fraction of the character's diagonal.
const NEAR: f32 = 0.03;
/// Maximum distance between a vertex and the mirror image of the vertex on the other side, in mean edge lengths.
const SAME: f32 = 0.25;

/// Returns the symmetry by which grips are mirrored, and the plane of symmetry in the displayed pose.
fn symmetry(context: &EditContext) -> Option<(&Mirror, Plane)> {
    let sides = context.body.sides.as_ref()?;
    Some((sides, sides.plane(&context.rig)))
}

fn image(sides: &Mirror, x: Vec3) -> Vec3 {
    sides.reflect_bind(x.as_dvec3()).as_vec3()
}

fn near(context: &EditContext) -> f32 {
    NEAR * context.character.control.aabb.diagonal()
}

impl GripTool {
    /// Returns the grip of the other side. `None` for a grip in the plane of symmetry or without a partner.
    pub(super) fn partner(&self, context: &EditContext, id: GripId) -> Option<&ShownGrip> {
        let (sides, _) = symmetry(context)?;
        let other = |s: &ShownGrip| {
            let there = image(sides, s.bind);
            let away = |o: &ShownGrip| o.bind.distance(there);
            let found = self.shown.iter().filter(|o| o.region == s.region);
            // A grip that is its own nearest is in the plane.
            found.min_by(|a, b| away(a).total_cmp(&away(b))).filter(|o| away(o) <= near(context))
        };
        let own = self.shown.iter().find(|s| s.id == id)?;
        other(own).filter(|o| o.id != id && other(o).is_some_and(|back| back.id == id))
    }

    /// Returns the partner of a grip after a change of the grip from `old` to `new`: moved and rotated from `start` as
    /// the mirror image of the change.
    pub(super) fn followed(
        &self,
        context: &EditContext,
        [old, new]: [&GripPose; 2],
        start: &GripPose,
    ) -> Option<GripPose> {
        let (_, plane) = symmetry(context)?;
        let own = self.shown.iter().find(|s| s.id == new.id)?;
        let other = self.shown.iter().find(|s| s.id == start.id)?;
        let [from, to] = [own, other].map(|s| s.world_from_model(&context.rig));
        let way = from.transform_vector3(new.translation() - old.translation());
        let way = plane.direction(way.as_dvec3()).as_vec3();
        let [from_turn, to_turn] = [from, to].map(|m| rotation_of(&m));
        let turn = from_turn * new.rotation() * old.rotation().inverse() * from_turn.inverse();
        let turn = to_turn.inverse() * plane.turn(turn.as_dquat()).as_quat() * to_turn;
        let translation = start.translation() + to.inverse().transform_vector3(way);
        let rotation = (turn * start.rotation()).normalize();
        Some(GripPose { translation: translation.to_array(), rotation: rotation.to_array(), ..*start })
    }

    /// Returns where the partner of a grip goes that begins to hold its place at `translation`.
    pub(super) fn reflected(&self, context: &EditContext, own: &GripPose, other: GripId) -> Option<Vec3> {
        let (_, plane) = symmetry(context)?;
        let find = |id: GripId| self.shown.iter().find(|s| s.id == id);
        Some(find(other)?.reflected(context, &plane, find(own.id)?, own.translation()))
    }

    /// Returns the mirror image of a new grip, with the next id. `None` if the grip is in the plane of symmetry or the
    /// mirror image is a grip already; a notice says if the other side has no such skin.
    pub(super) fn mirrored(
        &self,
        context: &mut EditContext,
        points: &[SurfacePoint],
        grip: &Grip,
        shown: &ShownGrip,
    ) -> Option<Grip> {
        let Some((sides, plane)) = symmetry(context) else {
            context.notice = Some("this body has no two sides: the grip has no mirror image".into());
            return None;
        };
        let there = image(sides, shown.bind);
        let vertices = match shown.region {
            false => nearest_shown(context, there).map(|v| vec![v]),
            true => reflected(context, sides, &shown.vertices).or_else(|| {
                let points = mirrored_points(&context.character, sides, points)?;
                drawn(context, &points)
            }),
        };
        let mirrored = vertices.map(|v| Grip::new(GripId(grip.id.0 + 1), v));
        let rest = PosedRig::new(&context.character.skeleton, &Pose::rest(&context.character.skeleton));
        let found = mirrored.map(|m| (ShownGrip::new(context, &m, &rest), m));
        let found =
            found.filter(|(s, _)| s.region == shown.region && s.bind.distance(there) <= near(context));
        let Some((other, mut mirrored)) = found else {
            context.notice = Some("the other side has no such skin: the grip has no mirror image".into());
            return None;
        };
        let shared = other.vertices.iter().any(|v| shown.vertices.binary_search(v).is_ok());
        let taken = self.shown.iter().any(|s| s.vertices == other.vertices);
        if shared || taken {
            return None;
        }
        if grip.translation != [0.0; 3] {
            let to = other.reflected(context, &plane, shown, grip.translation.into());
            mirrored.translation = to.to_array();
        }
        Some(mirrored)
    }

    /// Adds what an edit of one grip means for its partner.
    pub(in crate::workbench) fn with_partner(&mut self, context: &EditContext, edit: Edit) -> Edit {
        self.follow(context);
        let document = context.session.document();
        let id = match &edit {
            Edit::SetGrip(grip) => grip.id,
            Edit::MoveGrip { id, .. } | Edit::RemoveGrip(id) => *id,
            _ => return edit,
        };
        let partner = self.partner(context, id).and_then(|p| document.grip(p.id).ok());
        let (Ok(own), Some(partner)) = (document.grip(id), partner) else { return edit };
        let start = partner.pose();
        let other = match &edit {
            Edit::SetGrip(grip) if grip.hold != own.hold => {
                Some(self.held_as(context, &grip.pose(), partner))
            }
            Edit::MoveGrip { translation, rotation, .. } => {
                let new = GripPose { translation: *translation, rotation: *rotation, ..own.pose() };
                self.followed(context, [&own.pose(), &new], &start).map(|now| move_to(&now))
            }
            Edit::SetGrip(_) => None,
            _ => Some(Edit::RemoveGrip(partner.id)),
        };
        Edit::Group(std::iter::once(edit).chain(other).collect())
    }

    /// Returns the edit by which a partner holds what a grip holds. If the partner was free, it starts at the grip's
    /// mirror image.
    pub(super) fn held_as(&self, context: &EditContext, own: &GripPose, partner: &Grip) -> Edit {
        let mut new = Grip { hold: own.hold, ..partner.clone() };
        if partner.hold == GripHold::Free
            && let Some(to) = self.reflected(context, own, partner.id)
        {
            new.translation = to.to_array();
        }
        Edit::SetGrip(Box::new(new))
    }
}

/// Returns the edit that moves a grip to its place in a pose.
pub(super) fn move_to(now: &GripPose) -> Edit {
    Edit::MoveGrip { id: now.id, translation: now.translation, rotation: now.rotation }
}

/// Returns the vertices at the mirror images of vertices; `None` if one has no such vertex, as in a mesh that is only
/// roughly symmetric.
fn reflected(context: &EditContext, sides: &Mirror, vertices: &[u32]) -> Option<Vec<u32>> {
    let positions = &context.character.control.positions;
    let side = SAME * context.body.edge;
    let cell = |x: Vec3| (x / side).round().as_ivec3().to_array();
    let mut cells: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
    (0..positions.len() as u32).for_each(|v| cells.entry(cell(positions[v as usize])).or_default().push(v));
    let other = |v: &u32| {
        let there = image(sides, positions[*v as usize]);
        let [x, y, z] = cell(there);
        let around = (0..27).map(|k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
        let near = around.filter_map(|c| cells.get(&c)).flatten().copied();
        let away = |v: &u32| positions[*v as usize].distance(there);
        near.filter(|v| away(v) <= side).min_by(|a, b| away(a).total_cmp(&away(b)))
    };
    vertices.iter().map(other).collect()
}

/// Returns the vertex of the visible parts nearest to a place in bind space.
fn nearest_shown(context: &EditContext, x: Vec3) -> Option<u32> {
    let hidden = paint::hidden(context);
    let positions = &context.character.control.positions;
    let visible = (0..positions.len()).filter(|v| !hidden.get(*v).is_some_and(|h| *h));
    let away = |v: usize| positions[v].distance_squared(x);
    visible.min_by(|a, b| away(*a).total_cmp(&away(*b))).map(|v| v as u32)
}
