//! Selects joints by a *baseline*, the stroke that the user draws along the joints to pose, and assigns each joint a
//! parameter on the baseline (thesis 7.2; docs/internals.md, *Strokes and posing*).

use super::Stroke;
use crate::base::NodeId;
use crate::base::math::DVec3;
use crate::rig::{Pose, Skeleton, marked_parents, node_positions, posable};

/// Number of steps into which the baseline is divided in the search for monotone parameters along a chain.
const STEPS: usize = 256;

/// A joint selected by a baseline.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Selected {
    /// The joint's node.
    pub node: NodeId,
    /// Place of the joint on the baseline: 0 at its start, 1 at its end.
    pub t: f64,
}

/// Selects the posable joints within `radius` (metres, world space) of the baseline, except those of `except`, parents
/// before children, each with its closest parameter. Parameters increase or decrease monotonically along every selected
/// chain, so that a baseline that returns near itself does not tear a chain apart.
pub fn select(
    (skeleton, except): (&Skeleton, &[NodeId]),
    pose: &Pose,
    baseline: &Stroke,
    radius: f32,
) -> Vec<Selected> {
    let at = node_positions(skeleton, pose);
    let spline = baseline.spline();
    let mut marked = vec![false; at.len()];
    for id in posable(skeleton).into_iter().filter(|n| !except.contains(n)) {
        let x = at[id.index()];
        marked[id.index()] = x.is_finite() && spline.closest(x).1 <= f64::from(radius);
    }
    let parents = marked_parents(skeleton, &marked);
    let order: Vec<NodeId> = skeleton.order.iter().copied().filter(|id| marked[id.index()]).collect();
    let mut children = vec![Vec::new(); at.len()];
    for &id in &order {
        if let Some(p) = parents[id.index()] {
            children[p.index()].push(id);
        }
    }
    let mut t = vec![None; at.len()];
    // A chain starts at a topmost joint or below a branching joint, and ends at the next branching or leaf joint.
    for &id in &order {
        let parent = parents[id.index()];
        if parent.is_some_and(|p| children[p.index()].len() == 1) {
            continue;
        }
        let mut chain = vec![id];
        while let [only] = children[chain[chain.len() - 1].index()][..] {
            chain.push(only);
        }
        let start = parent.and_then(|p| t[p.index()]);
        let points: Vec<DVec3> = chain.iter().map(|n| at[n.index()]).collect();
        for (node, parameter) in chain.iter().zip(monotone_parameters(baseline, &points, start)) {
            t[node.index()] = Some(parameter);
        }
    }
    order.into_iter().map(|node| Selected { node, t: t[node.index()].unwrap_or(0.0) }).collect()
}

/// Returns the parameters of a chain's joints that minimise the sum of squared distances among all increasing and all
/// decreasing sequences. `start` is the parameter of the joint above the chain, if any.
fn monotone_parameters(baseline: &Stroke, points: &[DVec3], start: Option<f64>) -> Vec<f64> {
    let rising = best_rising(baseline, points, start, false);
    let falling = best_rising(baseline, points, start, true);
    if rising.1 <= falling.1 { rising.0 } else { falling.0 }
}

/// Minimises by dynamic programming over evenly spaced parameters, then refines between neighbours. `mirrored`
/// traverses the stroke from its end.
fn best_rising(baseline: &Stroke, points: &[DVec3], start: Option<f64>, mirrored: bool) -> (Vec<f64>, f64) {
    let spline = baseline.spline();
    let real = |u: f64| if mirrored { 1.0 - u } else { u };
    let start = start.map_or(0.0, real);
    let grid: Vec<f64> = (0..=STEPS).map(|k| start + (1.0 - start) * k as f64 / STEPS as f64).collect();
    let curve: Vec<DVec3> = grid.iter().map(|&u| spline.position(real(u))).collect();
    let mut cost = vec![0.0; grid.len()];
    let mut from: Vec<Vec<usize>> = Vec::with_capacity(points.len());
    for x in points {
        let mut best = 0;
        let (mut next, mut back) = (Vec::with_capacity(grid.len()), Vec::with_capacity(grid.len()));
        for k in 0..grid.len() {
            if cost[k] < cost[best] {
                best = k;
            }
            back.push(best);
            next.push(cost[best] + (curve[k] - *x).length_squared());
        }
        from.push(back);
        cost = next;
    }
    let mut k = (0..grid.len()).min_by(|&a, &b| cost[a].total_cmp(&cost[b])).unwrap_or(0);
    let mut chosen = vec![0; points.len()];
    for j in (0..points.len()).rev() {
        chosen[j] = k;
        k = from[j][k];
    }
    let mut out = Vec::with_capacity(points.len());
    let (mut low, mut total) = (start, 0.0);
    for (j, x) in points.iter().enumerate() {
        let high = (grid[chosen[j]] + (1.0 - start) / STEPS as f64).min(1.0).max(low);
        let near = (grid[chosen[j]] - (1.0 - start) / STEPS as f64).clamp(low, high);
        let guess = real(grid[chosen[j]].clamp(near, high));
        let (a, b) = if mirrored { (real(high), real(near)) } else { (near, high) };
        let t = spline.closest_near(*x, guess.clamp(a, b), a, b);
        total += (spline.position(t) - *x).length_squared();
        low = low.max(real(t));
        out.push(t);
    }
    (out, total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;
    use crate::pose::Sample;
    use crate::rig::{chain, tree};

    fn stroke(points: &[Vec3]) -> Stroke {
        Stroke::from_knots(points.iter().map(|&p| Sample::at(p, 0.0)).collect()).unwrap()
    }

    #[test]
    fn takes_the_joints_within_the_brush_and_their_parameters() {
        let (skeleton, pose) = chain(10, 0.1);
        let line = stroke(&[Vec3::new(0.2, 0.03, 0.0), Vec3::new(0.7, 0.03, 0.0)]);
        let picked = select((&skeleton, &[]), &pose, &line, 0.05);
        let nodes: Vec<u32> = picked.iter().map(|s| s.node.0).collect();
        assert_eq!(nodes, vec![2, 3, 4, 5, 6, 7]);
        for s in &picked {
            assert!((s.t - (f64::from(s.node.0) * 0.1 - 0.2) / 0.5).abs() < 1e-6, "{s:?}");
        }
        assert!(select((&skeleton, &[]), &pose, &line, 0.02).is_empty());
    }

    #[test]
    fn a_stroke_from_tip_to_root_falls_along_the_chain() {
        let (skeleton, pose) = chain(6, 0.2);
        let picked = select((&skeleton, &[]), &pose, &stroke(&[Vec3::X, Vec3::ZERO]), 0.01);
        assert_eq!(picked.len(), 6);
        assert!(picked.windows(2).all(|p| p[0].t > p[1].t));
    }

    #[test]
    fn a_baseline_that_returns_does_not_tear_the_chain() {
        let (skeleton, pose) = chain(9, 0.1);
        // The baseline follows the chain and returns just above it, such that half of the joints are closer to its
        // second half.
        let line: Vec<Vec3> = (0..=8)
            .map(|i| Vec3::new(i as f32 * 0.1, -0.01, 0.0))
            .chain((0..=8).map(|i| Vec3::new(0.8 - i as f32 * 0.1, if i > 4 { 0.002 } else { 0.03 }, 0.0)))
            .collect();
        let picked = select((&skeleton, &[]), &pose, &stroke(&line), 0.05);
        assert_eq!(picked.len(), 9);
        let rising = picked.windows(2).all(|p| p[0].t <= p[1].t);
        let falling = picked.windows(2).all(|p| p[0].t >= p[1].t);
        assert!(rising || falling, "{picked:?}");
    }

    #[test]
    fn a_stroke_from_hand_to_hand_falls_in_one_arm_and_rises_in_the_other() {
        let (skeleton, pose) = tree();
        let at =
            |name: &str| node_positions(&skeleton, &pose)[skeleton.find(name).unwrap().index()].as_vec3();
        let path = ["hand.L", "arm.L", "chest", "arm.R", "hand.R"].map(at);
        let picked = select((&skeleton, &[]), &pose, &stroke(&path), 0.02);
        let t = |name: &str| picked.iter().find(|s| s.node == skeleton.find(name).unwrap()).unwrap().t;
        assert!(t("hand.L") < t("arm.L") && t("arm.L") < t("chest"));
        assert!(t("chest") < t("arm.R") && t("arm.R") < t("hand.R"));
    }
}
