//! The part of a mesh that a region's solver uses.

use super::Lists;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};

const NONE: u32 = u32::MAX;

/// The vertices and triangles that affect the unknowns, with local indices.
pub(super) struct Patch {
    /// Mesh vertex per local vertex. The unknowns come first, then the other vertices whose cells (one-rings) contain
    /// an unknown, then the remaining vertices of those cells.
    pub vertex: Vec<u32>,
    /// Number of unknowns, the passive vertices to solve for.
    pub unknowns: usize,
    /// Number of local vertices whose cells contain an unknown; they come first. All triangles of these cells are in
    /// `triangles`.
    pub cells: usize,
    /// All triangles at the first `cells` vertices, in local indices. Triangles with a repeated vertex are omitted.
    pub triangles: Vec<[u32; 3]>,
    /// Rest position per local vertex.
    pub rest: Vec<DVec3>,
    /// Diagonal of the rest positions' bounding box.
    pub size: f64,
    /// Number of vertices of the whole mesh.
    mesh: usize,
}

impl Patch {
    /// Errors if the lists or triangles do not match the mesh, or if a rest position is not finite.
    pub fn new(rest: &[Vec3], triangles: &[[u32; 3]], lists: &Lists<'_>) -> Result<Self> {
        lists.validate(rest.len())?;
        if let Some(t) = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= rest.len())) {
            let problem = format!("triangle {t} names a vertex that the mesh does not have");
            return Err(Error::input(problem, "give positions and triangles of one mesh"));
        }
        let mut passive = vec![false; rest.len()];
        lists.passive.iter().for_each(|&v| passive[v as usize] = true);
        let proper: Vec<[u32; 3]> =
            triangles.iter().filter(|[a, b, c]| a != b && b != c && c != a).copied().collect();
        keep_anchored(&mut passive, &proper);
        let mut local = vec![NONE; rest.len()];
        let mut vertex: Vec<u32> = (0..rest.len() as u32).filter(|&v| passive[v as usize]).collect();
        vertex.iter().enumerate().for_each(|(i, &v)| local[v as usize] = i as u32);
        let unknowns = vertex.len();
        // Adds two rings: other vertices whose cells contain an unknown, then the remaining vertices of those cells.
        let mut inner = unknowns as u32;
        let mut cells = unknowns;
        for ring in 0..2 {
            for t in &proper {
                if t.iter().all(|&v| local[v as usize] >= inner) {
                    continue;
                }
                for &v in t {
                    if local[v as usize] == NONE {
                        local[v as usize] = vertex.len() as u32;
                        vertex.push(v);
                    }
                }
            }
            inner = vertex.len() as u32;
            if ring == 0 {
                cells = vertex.len();
            }
        }
        let at_cell = |t: &&[u32; 3]| t.iter().any(|&v| local[v as usize] < cells as u32);
        let triangles = proper.iter().filter(at_cell).map(|t| t.map(|v| local[v as usize])).collect();
        let rest_of = |&v: &u32| rest[v as usize].as_dvec3();
        let patch = Self {
            rest: vertex.iter().map(rest_of).collect(),
            size: diagonal(vertex.iter().map(rest_of)),
            vertex,
            unknowns,
            cells,
            triangles,
            mesh: rest.len(),
        };
        check(&patch.vertex, &patch.rest, "rest")?;
        Ok(patch)
    }

    /// Copies the local positions from a shape of the whole mesh. Errors if the shape does not match the mesh in
    /// length or if a local position is not finite.
    pub fn gather(&self, shape: &[DVec3], out: &mut Vec<DVec3>) -> Result<()> {
        if shape.len() != self.mesh {
            let problem = format!("{} positions for a mesh of {} vertices", shape.len(), self.mesh);
            return Err(Error::input(problem, "give one per vertex"));
        }
        out.clear();
        out.extend(self.vertex.iter().map(|&v| shape[v as usize]));
        check(&self.vertex, out, "given")
    }

    /// Copies the positions of the unknowns into a shape of the whole mesh.
    pub fn scatter(&self, local: &[DVec3], shape: &mut [DVec3]) {
        for (&v, &x) in self.vertex[..self.unknowns].iter().zip(local) {
            shape[v as usize] = x;
        }
    }
}

fn check(vertex: &[u32], positions: &[DVec3], which: &str) -> Result<()> {
    // Coordinates whose fourth powers overflow are rejected, too.
    let Some(i) = positions.iter().position(|x| !(x.is_finite() && x.abs().max_element() < 1e60)) else {
        return Ok(());
    };
    let problem = format!("the {which} position of vertex {} is not finite", vertex[i]);
    Err(Error::input(problem, "give finite positions"))
}

fn diagonal(points: impl Iterator<Item = DVec3>) -> f64 {
    let (low, high) =
        points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
    if low.x <= high.x { (high - low).length() } else { 0.0 }
}

/// Unmarks passive vertices that no path of edges connects to an unmarked vertex.
fn keep_anchored(passive: &mut [bool], triangles: &[[u32; 3]]) {
    let mut parent: Vec<u32> = (0..passive.len() as u32).collect();
    let mut anchored = vec![false; passive.len()];
    for t in triangles {
        let is = t.map(|v| passive[v as usize]);
        for k in 0..3 {
            match (is[k], is[(k + 1) % 3]) {
                (true, true) => {
                    let (a, b) = (root(&mut parent, t[k]), root(&mut parent, t[(k + 1) % 3]));
                    parent[a as usize] = b;
                }
                (true, false) => anchored[t[k] as usize] = true,
                (false, true) => anchored[t[(k + 1) % 3] as usize] = true,
                (false, false) => {}
            }
        }
    }
    for v in 0..passive.len() as u32 {
        if anchored[v as usize] {
            anchored[root(&mut parent, v) as usize] = true;
        }
    }
    for v in 0..passive.len() as u32 {
        passive[v as usize] &= anchored[root(&mut parent, v) as usize];
    }
}

fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        let up = parent[parent[v as usize] as usize];
        parent[v as usize] = up;
        v = up;
    }
    v
}
