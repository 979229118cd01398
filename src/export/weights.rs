//! Combines a file's own morph weights and added weights in one channel, as glTF requires. Added weights are linear
//! between keys. The result depends on the interpolation of the file's own weights:
//!
//! - LINEAR: the channel has the keys of the file's own weights and those of the added weights.
//! - CUBICSPLINE: the spline gets additional keys at the key times of the added weights, with its value and slope
//!   there, which does not change its shape. The added weights become spline segments whose tangents equal the slope of
//!   the line.
//! - STEP: the channel becomes LINEAR, with an additional key at the last `f32` time before each jump.

use super::posed::Job;
use crate::anim::Curve;
use crate::asset::{Channel, Interpolation, Problem, Property};
use crate::base::NodeId;

/// Combines a node's own weights with added weights. `own` is the node's weights channel or, without one, its `width`
/// constant weights. `of_added` returns the added weights at a time; they are linear between `key_times`.
pub(super) fn together(
    node: NodeId,
    own: Result<&Channel, &[f32]>,
    width: usize,
    key_times: &[f32],
    of_added: impl Fn(f32) -> Vec<f32>,
) -> Channel {
    let way = own.map_or(Interpolation::Linear, |c| c.interpolation);
    let mut times = own.map_or_else(|_| Vec::new(), |c| c.times.clone());
    if way == Interpolation::Step {
        times.extend(own.iter().flat_map(|c| &c.times).skip(1).map(|t| t.next_down()));
    }
    times.extend(key_times);
    times.sort_unstable_by(f32::total_cmp);
    times.dedup();
    let of_own = |time: f32| {
        let mut out = vec![0.0; width];
        match own {
            Ok(channel) => crate::anim::evaluate(channel, f64::from(time), &mut out),
            Err(still) => out.copy_from_slice(still),
        }
        out
    };
    let added: Vec<Vec<f32>> = times.iter().map(|&t| of_added(t)).collect();
    let mut values = Vec::new();
    for (i, &time) in times.iter().enumerate() {
        if way != Interpolation::CubicSpline {
            values.extend(of_own(time));
            values.extend(&added[i]);
            continue;
        }
        let slope = |a: usize, b: usize| -> Vec<f32> {
            let per_second = |(from, to): (&f32, &f32)| (to - from) / (times[b] - times[a]);
            added[a].iter().zip(&added[b]).map(per_second).collect()
        };
        let still = || vec![0.0; added[i].len()];
        let [arriving, leaving] =
            own.map_or_else(|_| [vec![0.0; width], vec![0.0; width]], |c| tangents(c, width, time));
        values.extend(arriving);
        values.extend(if i > 0 { slope(i - 1, i) } else { still() });
        values.extend(of_own(time));
        values.extend(&added[i]);
        values.extend(leaving);
        values.extend(if i + 1 < times.len() { slope(i, i + 1) } else { still() });
    }
    let interpolation = if way == Interpolation::Step { Interpolation::Linear } else { way };
    Channel { node, property: Property::Weights, interpolation, times, values }
}

/// Reports nodes whose own morph weights leave 0..1 at some key. These weights are not changed.
pub(super) fn beyond(job: &Job) -> Vec<Problem> {
    let mut out = Vec::new();
    for (n, node) in job.asset.nodes.iter().enumerate() {
        let width = node.weights.len().max(1);
        let moved = job.options.motion.iter().flat_map(|m| &m.channels);
        let moved = moved.filter(|c| c.node.index() == n && c.property == Property::Weights);
        let values = moved.flat_map(|c| {
            let spline = c.interpolation == Interpolation::CubicSpline;
            let blocks = c.values.chunks(width).enumerate();
            blocks.filter(move |(i, _)| !spline || i % 3 == 1).flat_map(|(_, b)| b.iter().copied())
        });
        let posed = job.keys.iter().flat_map(|k| k.pose.weights[n].iter().copied());
        let (least, most) =
            values.chain(posed).fold((0f32, 1f32), |(least, most), w| (least.min(w), most.max(w)));
        if least < 0.0 || most > 1.0 {
            out.push(Problem {
                at: format!("node \"{}\"", node.name),
                text: format!(
                    "weights of its own morph targets run from {least:.3} to {most:.3}; Blender clamps weights to 0..1"
                ),
            });
        }
    }
    out
}

/// Returns the in- and out-tangent of a spline at `time`; zero before the first key and after the last.
fn tangents(channel: &Channel, width: usize, time: f32) -> [Vec<f32>; 2] {
    let still = || vec![0.0; width];
    let last = channel.times.len().saturating_sub(1);
    if let Some(k) = channel.times.iter().position(|t| *t == time) {
        let at = |block: usize| channel.values[(3 * k + block) * width..(3 * k + block + 1) * width].to_vec();
        return [if k > 0 { at(0) } else { still() }, if k < last { at(2) } else { still() }];
    }
    let (times, values) = (&channel.times[..], &channel.values[..]);
    let curve = Curve { interpolation: channel.interpolation, rotation: false, times, values };
    let slope = curve.slope(f64::from(time), width).unwrap_or_else(still);
    [slope.clone(), slope]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_weights_go_their_own_way_beside_shapes_that_go_straight() {
        let key_times = [0.25f32, 1.0, 1.75, 3.0];
        let shapes = [[0.0f32, 1.0], [0.8, 0.0], [0.3, 0.5], [0.0, 0.2]];
        let of_added = |time: f32| {
            let k = key_times.partition_point(|t| *t <= time).clamp(1, 3);
            let u = ((time - key_times[k - 1]) / (key_times[k] - key_times[k - 1])).clamp(0.0, 1.0);
            (0..2).map(|i| shapes[k - 1][i] + (shapes[k][i] - shapes[k - 1][i]) * u).collect::<Vec<f32>>()
        };
        let times = vec![0.5f32, 1.0, 2.5];
        for (interpolation, blocks) in
            [(Interpolation::Step, 1), (Interpolation::Linear, 1), (Interpolation::CubicSpline, 3)]
        {
            let values = (0..3 * blocks).map(|i| ((i * 7) % 5) as f32 * 0.3 - 0.4).collect();
            let own = Channel {
                node: NodeId(0),
                property: Property::Weights,
                interpolation,
                times: times.clone(),
                values,
            };
            let out = together(NodeId(0), Ok(&own), 1, &key_times, of_added);
            assert!(out.times.is_sorted_by(|a, b| a < b));
            for k in 0..=340 {
                let time = k as f32 * 0.01;
                let (mut wanted, mut got) = ([0.0], [0.0; 3]);
                crate::anim::evaluate(&own, f64::from(time), &mut wanted);
                crate::anim::evaluate(&out, f64::from(time), &mut got);
                let all = [wanted[0], of_added(time)[0], of_added(time)[1]];
                for (a, b) in all.iter().zip(got) {
                    assert!((a - b).abs() < 2e-6, "{interpolation:?} at {time}: {all:?} {got:?}");
                }
            }
        }
        let out = together(NodeId(0), Err(&[0.7]), 1, &key_times, of_added);
        assert_eq!((out.times.len(), out.interpolation), (4, Interpolation::Linear));
        assert_eq!(out.values[..3], [0.7, 0.0, 1.0]);
    }
}
