//! Couples a skin, its skeleton and a cage. The coupling gives the maps CageUp and CageRev.
//!
//! *Real-time Deformation with Coupled Cages and Skeletons* (Corda et al. 2020), sections 4.1 and 4.3, equations 7, 8
//! and 13 to 19. The notation is that of the paper. phi are the coordinates of the skin in the cage, and psi those of
//! the joints; `m` are the skin vertices that MaxVol selects. Array sizes: V control vertices, J joints, B bones, C
//! cage vertices.

use super::joints::{joint_coordinates, joint_positions, tip_coordinates};
use super::max_vol::max_volume_rows;
use super::mean_value::mean_value;
use super::mesh::CageMesh;
use crate::base::math::{DMat3, DVec3};
use crate::base::{Error, Progress, Result};
use crate::bind::Character;
use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, PartialPivLu, Solve};
use rayon::prelude::*;
use std::sync::Arc;

/// Number of vertices between two reports of progress.
const CHUNK: usize = 4096;

/// A cage counts as open if its mean value coordinates miss a skin vertex by more than this fraction of its diagonal.
const OPEN: f64 = 1e-6;

/// The map from rest offsets to current offsets is singular if a pivot is below this fraction of the largest pivot.
const SINGULAR: f64 = 1e-12;

/// How well the coordinates reproduce the skin and the joints in the rest cage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoordinateReport {
    /// The most negative coordinate of the skin; 0 if none is negative.
    pub lowest: f64,
    /// Number of skin vertices with a coordinate below -0.01.
    pub negative: usize,
    /// The largest distance between a skin vertex and the point that its coordinates give, divided by the diagonal of the
    /// rest cage's bounding box.
    pub skin_precision: f64,
    /// Like `skin_precision`, for the joints.
    pub joint_precision: f64,
}

/// All data that couple a skin, its skeleton and a cage and that do not depend on the pose. Immutable.
pub struct Coupling {
    /// Coordinates of the skin, V x C.
    phi: Vec<f32>,
    /// Coordinates of the joints, J x C.
    psi: Vec<f64>,
    /// Coordinates of the bones' tails, B x C.
    tips: Vec<f64>,
    /// The selected control vertices (C).
    rows: Vec<u32>,
    fit: Arc<Fit>,
    /// For each selected vertex its joints with their weights, which sum to one.
    weights: Vec<Vec<(usize, f64)>>,
    /// Parent of each joint.
    parents: Vec<Option<usize>>,
    /// The joints, parents before children.
    order: Vec<usize>,
    report: CoordinateReport,
}

/// Scratch memory for [`Coupling::cage_up`].
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    residual: Vec<DVec3>,
}

/// The coordinates of the selected vertices and their inverse, C x C each.
struct Fit {
    columns: usize,
    forward: Vec<f64>,
    inverse: Vec<f64>,
}

/// Returns `matrix` times `vectors`, one vector per row of the matrix.
fn times<'a>(matrix: &'a [f64], vectors: &'a [DVec3]) -> impl Iterator<Item = DVec3> + 'a {
    let product = move |row: &[f64]| row.iter().zip(vectors).map(|(&w, &v)| v * w).sum::<DVec3>();
    matrix.chunks(vectors.len().max(1)).map(product)
}

impl Fit {
    fn new(columns: usize, forward: Vec<f64>) -> Self {
        let inverse =
            PartialPivLu::new(Mat::from_fn(columns, columns, |i, j| forward[i * columns + j]).as_ref());
        let inverse = inverse.inverse();
        let inverse = (0..columns * columns).map(|k| inverse[(k / columns, k % columns)]).collect();
        Self { columns, forward, inverse }
    }

    /// Solves `forward * out = points` by the inverse and one step of iterative refinement.
    fn solve(&self, points: &[DVec3], residual: &mut Vec<DVec3>, out: &mut Vec<DVec3>) {
        debug_assert_eq!(points.len(), self.columns);
        out.clear();
        out.extend(times(&self.inverse, points));
        residual.clear();
        residual.extend(points.iter().zip(times(&self.forward, out)).map(|(&p, q)| p - q));
        out.iter_mut().zip(times(&self.inverse, residual)).for_each(|(c, d)| *c += d);
    }
}

/// Returns the diagonal of the cage's bounding box.
fn diagonal(cage: &CageMesh) -> f64 {
    let Some(&first) = cage.positions.first() else { return 0.0 };
    let ends = cage.positions.iter().fold((first, first), |(low, high), p| (low.min(*p), high.max(*p)));
    ends.0.distance(ends.1)
}

/// Returns the largest distance between a point and the point that its coordinates give.
fn worst_miss(coordinates: &[f64], cage: &CageMesh, points: &[DVec3]) -> f64 {
    times(coordinates, &cage.positions).zip(points).map(|(q, p)| q.distance(*p)).fold(0.0, f64::max)
}

impl Coupling {
    /// Computes the coupling of a character and a cage in bind space. `skin` holds loaded coordinates of the control
    /// vertices in the cage (V x C); if it is `None`, this function computes mean value coordinates. The work is of
    /// order V C (C + J), plus V T for a cage with T triangles.
    ///
    /// Vertices of rigid props are selected for CageUp only if the soft skin does not determine the cage.
    ///
    /// # Errors
    /// [`Error::Input`] if the cage is empty or open, a number is not finite, loaded coordinates have a wrong count or do
    /// not sum to one, the skin does not determine the cage, or the work is cancelled.
    pub fn bind(
        character: &Character,
        cage: &CageMesh,
        skin: Option<Vec<f64>>,
        progress: &Progress,
    ) -> Result<Self> {
        let columns = cage.positions.len();
        let size = diagonal(cage);
        if columns == 0 || !size.is_finite() || size == 0.0 {
            return Err(Error::input("the cage has no size", "load a closed mesh around the character"));
        }
        if cage.faces.iter().flatten().any(|&v| v as usize >= columns) {
            return Err(Error::input("a face of the cage names a missing vertex", "load another cage"));
        }
        let positions: Vec<DVec3> = character.control.positions.iter().map(|p| p.as_dvec3()).collect();
        let is_loaded = skin.is_some();
        let phi = match skin {
            Some(loaded) => checked(loaded, positions.len(), columns)?,
            None => skin_coordinates(&positions, cage, progress)?,
        };
        let skin_precision = worst_miss(&phi, cage, &positions) / size;
        if !is_loaded && (skin_precision.is_nan() || skin_precision > OPEN) {
            return Err(Error::input(
                "the cage is open, or a part of it is inside out",
                "close the cage's holes",
            ));
        }
        let psi = joint_coordinates(character, cage, &phi, progress)?;
        let rigid = &character.control.rigid;
        let is_soft = |v: usize| !rigid.get(v).copied().unwrap_or(false);
        let rows = match max_volume_rows(&phi, columns, is_soft) {
            Err(_) if rigid.contains(&true) => max_volume_rows(&phi, columns, |_| true)?,
            rows => rows?,
        };
        let forward = rows.iter().flat_map(|&v| &phi[v as usize * columns..][..columns]).copied().collect();
        let parents: Vec<Option<usize>> =
            character.skeleton.joints.iter().map(|j| j.parent.map(|p| p.index())).collect();
        let mut order: Vec<usize> = (0..parents.len()).collect();
        let depth =
            |&j: &usize| std::iter::successors(parents[j], |&p| parents[p]).take(parents.len()).count();
        order.sort_by_key(depth);
        let report = CoordinateReport {
            lowest: phi.iter().copied().fold(0.0, f64::min),
            negative: phi.chunks(columns).filter(|row| row.iter().any(|&w| w < -0.01)).count(),
            skin_precision,
            joint_precision: worst_miss(&psi, cage, &joint_positions(character)) / size,
        };
        Ok(Self {
            tips: tip_coordinates(character, cage, &psi),
            weights: rows.iter().map(|&v| weights_of(character, v)).collect(),
            fit: Arc::new(Fit::new(columns, forward)),
            phi: phi.into_iter().map(|w| w as f32).collect(),
            psi,
            rows,
            parents,
            order,
            report,
        })
    }

    /// Returns the number of cage vertices, C.
    pub fn cage_vertices(&self) -> usize {
        self.fit.columns
    }

    /// Returns the coordinates phi of the control vertices in the cage, V x C.
    pub fn phi(&self) -> &[f32] {
        &self.phi
    }

    /// Returns the C control vertices whose posed positions determine the current cage.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the coordinates psi of the joints in the cage, J x C. The rest joints are psi times the rest cage
    /// (SkelUp, equation 13).
    pub fn psi(&self) -> &[f64] {
        &self.psi
    }

    /// Returns the coordinates of the bones' tails in the cage, B x C.
    pub fn tips(&self) -> &[f64] {
        &self.tips
    }

    /// Returns the quality of the coordinates.
    pub fn report(&self) -> CoordinateReport {
        self.report
    }

    /// Computes the displacement of every control vertex in bind space (V) from the displacements of the rest cage's
    /// vertices (C). Corda et al. 2020, equation 7.
    pub fn skin_offsets(&self, offsets: &[DVec3], out: &mut Vec<DVec3>) {
        debug_assert_eq!(offsets.len(), self.cage_vertices());
        self.phi
            .par_chunks(self.cage_vertices())
            .map(|row| row.iter().zip(offsets).map(|(&w, &d)| d * f64::from(w)).sum())
            .collect_into_vec(out);
    }

    /// Computes the current positions of the cage's vertices (C) from the posed positions of the control vertices
    /// [`Coupling::rows`]. Both are in the same space. Does not allocate if `workspace` was used before and `out` has
    /// capacity. The work is of order C².
    ///
    /// Corda et al. 2020, equation 8.
    pub fn cage_up(&self, posed_rows: &[DVec3], workspace: &mut Workspace, out: &mut Vec<DVec3>) {
        self.fit.solve(posed_rows, &mut workspace.residual, out);
    }
}

/// Checks loaded coordinates and returns them.
fn checked(phi: Vec<f64>, vertices: usize, columns: usize) -> Result<Vec<f64>> {
    if phi.len() != vertices * columns {
        return Err(Error::input(
            format!("the loaded cage coordinates have {} numbers", phi.len()),
            format!("give {columns} numbers for each of {vertices} vertices"),
        ));
    }
    let wrong = phi.chunks(columns).position(|row| {
        let sum: f64 = row.iter().sum();
        !sum.is_finite() || (sum - 1.0).abs() > 1e-3
    });
    match wrong {
        Some(v) => Err(Error::input(
            format!("the loaded cage coordinates of vertex {v} do not sum to one"),
            "compute them again for this cage",
        )),
        None => Ok(phi),
    }
}

/// Computes the mean value coordinates of the skin.
fn skin_coordinates(positions: &[DVec3], cage: &CageMesh, progress: &Progress) -> Result<Vec<f64>> {
    let triangles: Vec<_> = cage.triangles().collect();
    let mut phi = Vec::with_capacity(positions.len() * cage.positions.len());
    for (k, chunk) in positions.chunks(CHUNK).enumerate() {
        if !progress.report(0.5 * (k * CHUNK) as f32 / positions.len() as f32) {
            return Err(Error::input("the cage coordinates were cancelled", "bind the cage again"));
        }
        phi.extend(mean_value(&cage.positions, &triangles, chunk));
    }
    progress.report(0.5);
    Ok(phi)
}

/// Returns the joints of a control vertex with their weights, scaled to the sum of one.
fn weights_of(character: &Character, vertex: u32) -> Vec<(usize, f64)> {
    let entries = || character.control.influences.of(vertex as usize);
    let sum: f64 = entries().map(|e| f64::from(e.1)).sum();
    entries().map(|(j, w)| (usize::from(j), f64::from(w) / sum)).collect()
}

/// CageRev: the linear map from offsets of the rest cage to offsets of the current cage in one pose, factored.
///
/// The map is exact under linear blend skinning. An offset dC of the rest cage moves the skin by phi dC and the joints
/// by da = psi dC. The linear parts of the joints' transforms stay constant. Their translations follow from the roots
/// down.
pub struct Reverse {
    fit: Arc<Fit>,
    /// Maps offsets of the rest cage's vertices to offsets of the posed selected vertices, 3C x 3C.
    matrix: Mat<f64>,
    factor: PartialPivLu<f64>,
}

impl Reverse {
    /// Factors the map for a pose. `linear` holds the linear part `L_j` of each joint's skinning transform, from bind
    /// space to the pose. `carrier` holds `K_j`, which carries the offset `da_j` of a joint relative to the offset
    /// `da_f` of its parent joint into the pose: `dp_j = dp_f + K_j (da_j - da_f)`. `K_j` is `L_f` of the parent joint
    /// if no other node lies between the two, and the identity for roots, where `dp = K da`. The work is of order C³.
    ///
    /// Corda et al. 2020, equations 16 to 19. **Differs**: Sinew multiplies the equations by the selected coordinates,
    /// which saves a product. A pass from the roots down replaces the inverse of the matrix `B`.
    ///
    /// # Errors
    /// [`Error::Input`] if the pose has a different number of joints, or if it flattens the skin so that the current
    /// cage does not determine the rest cage.
    pub fn new(coupling: &Coupling, linear: &[DMat3], carrier: &[DMat3]) -> Result<Self> {
        let columns = coupling.cage_vertices();
        let joints = coupling.parents.len();
        if linear.len() != joints || carrier.len() != joints {
            let problem = format!("the pose has {} joints, the skeleton {joints}", linear.len());
            return Err(Error::input(problem, "use a pose of this character"));
        }
        // For each joint and cage vertex: the derivatives of the posed joint and of its transform's translation with
        // respect to the vertex's offset.
        let mut posed = vec![DMat3::ZERO; joints * columns];
        let mut translation = vec![DMat3::ZERO; joints * columns];
        for &j in &coupling.order {
            for i in 0..columns {
                let at = coupling.psi[j * columns + i];
                let carried = match coupling.parents[j] {
                    Some(f) => posed[f * columns + i] + carrier[j] * (at - coupling.psi[f * columns + i]),
                    None => carrier[j] * at,
                };
                posed[j * columns + i] = carried;
                translation[j * columns + i] = carried - linear[j] * at;
            }
        }
        let mut matrix = Mat::zeros(3 * columns, 3 * columns);
        for (m, weights) in coupling.weights.iter().enumerate() {
            let blend: DMat3 = weights.iter().map(|&(j, w)| linear[j] * w).sum();
            for i in 0..columns {
                let moved: DMat3 = weights.iter().map(|&(j, w)| translation[j * columns + i] * w).sum();
                let block = blend * coupling.fit.forward[m * columns + i] + moved;
                for (row, column) in (0..9).map(|k| (k / 3, k % 3)) {
                    matrix[(3 * m + row, 3 * i + column)] = block.col(column)[row];
                }
            }
        }
        let factor = PartialPivLu::new(matrix.as_ref());
        let pivots = || (0..3 * columns).map(|k| factor.U()[(k, k)].abs());
        let largest = pivots().fold(0.0, f64::max);
        if !pivots().all(|pivot| pivot > SINGULAR * largest) {
            return Err(Error::input(
                "the pose flattens the skin, so that the current cage does not determine the rest cage",
                "edit the rest cage, or rotate and scale the joints less",
            ));
        }
        Ok(Self { fit: coupling.fit.clone(), matrix, factor })
    }

    /// Computes the offsets of the rest cage's vertices, in bind space, from the offsets `current` of the current
    /// cage's vertices, in the space of the pose (C each). The work is of order C².
    pub fn rest_offsets(&self, current: &[DVec3], out: &mut Vec<DVec3>) {
        debug_assert_eq!(current.len(), self.fit.columns);
        out.clear();
        out.extend(times(&self.fit.forward, current));
        let mut stacked = Mat::from_fn(3 * current.len(), 1, |k, _| out[k / 3][k % 3]);
        self.factor.solve_in_place(stacked.as_mut());
        let at = |k: usize| stacked[(k, 0)];
        out.iter_mut()
            .enumerate()
            .for_each(|(i, d)| *d = DVec3::new(at(3 * i), at(3 * i + 1), at(3 * i + 2)));
    }

    /// Computes the offsets of the current cage's vertices, in the space of the pose, from the offsets `rest` of the
    /// rest cage's vertices, in bind space (C each). The work is of order C².
    pub fn current_offsets(&self, rest: &[DVec3], out: &mut Vec<DVec3>) {
        debug_assert_eq!(rest.len(), self.fit.columns);
        let stacked = Mat::from_fn(3 * rest.len(), 1, |k, _| rest[k / 3][k % 3]);
        let moved = &self.matrix * &stacked;
        let at = |k: usize| moved[(k, 0)];
        let moved: Vec<DVec3> =
            (0..rest.len()).map(|m| DVec3::new(at(3 * m), at(3 * m + 1), at(3 * m + 2))).collect();
        self.fit.solve(&moved, &mut Vec::new(), out);
    }
}
