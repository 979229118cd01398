//! A cylinder with known weights, for tests.

use crate::base::math::DVec3;
use crate::base::testing::shared;
use crate::geom::Cubes;
use std::collections::HashMap;

/// A cylinder of cubes along z, with a joint at the origin.
pub struct Cylinder {
    pub cubes: Cubes,
    /// Per node: whether it is fixed to the rotating bone or to the other bone.
    pub side: Vec<Option<bool>>,
    /// Bounded biharmonic weight of the rotating bone, per node.
    pub biharmonic: Vec<f64>,
    /// Swing weight per node.
    pub swing: Vec<f64>,
    /// Twist weight per node.
    pub twist: Vec<f64>,
}

/// Reads the cylinder from the shared data; `None` without them.
pub fn cylinder() -> Option<Cylinder> {
    const SIZE: f64 = 0.25;
    let text = std::fs::read_to_string(shared("known/eid_cylinder_n4.txt")?).unwrap();
    let mut index: HashMap<[i32; 3], u32> = HashMap::new();
    let mut out = Cylinder {
        cubes: Cubes { size: SIZE, ..Cubes::default() },
        side: Vec::new(),
        biharmonic: Vec::new(),
        swing: Vec::new(),
        twist: Vec::new(),
    };
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let fields: Vec<f64> = line.split_whitespace().map(|f| f.parse().unwrap()).collect();
        let place: [i32; 3] = std::array::from_fn(|k| fields[k] as i32);
        index.insert(place, out.cubes.nodes.len() as u32);
        out.cubes.nodes.push(DVec3::from(place.map(f64::from)) * SIZE);
        out.side.push((fields[3] > 0.0).then_some(fields[3] == 1.0));
        out.biharmonic.push(fields[4]);
        out.swing.push(fields[5]);
        out.twist.push(fields[6]);
    }
    let mut places: Vec<_> = index.keys().copied().collect();
    places.sort_unstable();
    for place in places {
        let corner = |c: usize| {
            let at: [i32; 3] = std::array::from_fn(|k| place[k] + (c >> k & 1) as i32);
            index.get(&at).copied()
        };
        let corners: Option<Vec<u32>> = (0..8).map(corner).collect();
        let [x, y, _] = place.map(|p| (f64::from(p) + 0.5) * SIZE);
        if let Some(corners) = corners.filter(|_| x * x + y * y < 1.0) {
            out.cubes.cells.push(std::array::from_fn(|c| corners[c]));
        }
    }
    Some(out)
}
