//! Binds a shape, once per character. Computes the reduced matrices `L̃ = MᵀLM` and `K̃ = KM` (Jacobson et al. 2012,
//! equations 11 and 12), without ever forming the matrix `M` of linear blend skinning.
//!
//! (differs) One pass over the mesh computes `L̃_k`, the Laplacian of each cluster, restricted to the few handles
//! that move the cluster. Their sum is `L̃`. With the transforms `T₀` of the rest shape, `K̃_k = T₀ᵀ L̃_k`. Any pose
//! can therefore become the rest shape without another pass over the mesh ([`Reduced::around`]). A grab that starts
//! from the current pose needs this.
//!
//! (differs) Three small quadratic terms make the solution unique for any mesh. They are zero at rest and invariant
//! to rigid motions. The first pulls a handle's linear part to the rotation of the cluster that the handle moves most
//! ([`PULLS`]), because a flat mesh leaves one column of the linear part undetermined. The second keeps a handle near
//! its parent (`WELD` of `regular.rs`), because nothing else may connect parts of the mesh. The optional third keeps
//! a joint attached to its parent ([`super::Params::hinge`]). Abstract handles are pulled to zero.

use super::Params;
use super::assemble::Assembly;
use super::constrain::model_map;
use super::dense::Mat;
use super::energy::{Element, Energy, cube, set_clusters, triangle};
use super::extra::extras;
use super::forms::Form;
use super::inside::{Inside, Parts};
use super::regular::{grounded, hinge, hold_together, keep_to_zero};
use super::weights::{Weights, own_weights, with_extras};
use crate::asset::Influences;
use crate::base::math::{DAffine3, DVec3, Vec3};
use crate::base::{Error, Result};
use std::sync::Arc;

/// Stiffness that keeps a handle's linear part near its cluster's rotation, relative to the mean stiffness of a
/// handle. The second value is used if the system is singular with the first.
const PULLS: [f64; 2] = [1e-5, 1e-2];
/// Approximate number of cubes that fill the interior of a shape.
const CUBES: f64 = 6000.0;
/// Thickness of the shell around a volume, in cube sides. It stiffens parts that are thinner than a cube.
pub(super) const SKIN: f64 = 0.5;
/// Maximum number of handles; the size of the dense matrices grows with its square.
pub const MAX_HANDLES: usize = 512;
/// Maximum number of rotation clusters if the settings specify none.
const MAX_CLUSTERS: usize = 160;

/// A handle, i.e. a bone of the linear blend skinning: a joint, a point or a region of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handle {
    /// Position in bind space, metres.
    pub pivot: Vec3,
    /// Index of the parent handle; `None` for a root.
    pub parent: Option<usize>,
}

/// The inputs of [`Reduced::bind`].
pub struct Shape<'a> {
    /// Vertex positions in bind space, metres.
    pub positions: &'a [Vec3],
    /// Vertex indices of the triangles.
    pub triangles: &'a [[u32; 3]],
    /// Influences per vertex; joint indices are indices of `handles`.
    pub weights: &'a Influences,
    /// The handles; a parent precedes its children.
    pub handles: &'a [Handle],
}

/// A bound shape. Internally, positions are in model space: in units of the model's size, relative to its centre.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Number of given handles, i.e. of all handles that are not abstract.
    pub given: usize,
    /// Number of given and abstract handles.
    pub handles: usize,
    /// Number of rotation clusters.
    pub clusters: usize,
    /// The energy in use. If a volume was requested but no part of the mesh is closed, it is [`Energy::Rims`].
    pub energy: Energy,
    /// How much of the mesh is closed; zero unless the energy is a volume.
    pub parts: Parts,
    /// Centre of the bounding box, bind space, metres. Model space is `(x - center) / size`.
    pub(super) center: DVec3,
    /// The model's size: diagonal of the bounding box, metres.
    pub(super) size: f64,
    /// Weights of all vertices over all handles.
    pub weights: Arc<Weights>,
    /// The Laplacian `L̃_k` of each cluster.
    pub(super) forms: Arc<Vec<Form>>,
    /// Positions of the handles in model space.
    pub(super) pivots: Vec<DVec3>,
    /// `L̃`, square with four rows per handle.
    pub(super) laplacian: Mat,
    /// `K̃`, three rows per cluster by four columns per handle.
    pub(super) covariance: Mat,
    /// `G`, the inverse of `L̃` after adding a small stiffness for the translation of the whole shape.
    pub(super) inverse: Mat,
    /// The product `G K̃ᵀ`.
    pub(super) inverse_covariance: Mat,
    /// The product `K̃ G K̃ᵀ`, the quadratic form of the energy in the rotations.
    pub(super) rotations: Mat,
    /// Constant term of the energy, chosen so that the energy is zero at rest.
    pub(super) offset: f64,
    /// `T₀`, the transforms of the rest shape, four rows per handle by 3 columns, model space.
    pub(super) rest: Mat,
}

impl Reduced {
    /// Binds a shape. If no triangle has area, only the hierarchy of handles connects the shape.
    ///
    /// # Errors
    /// [`Error::Input`] if the shape has no handles, too many handles or inconsistent data.
    pub fn bind(shape: &Shape<'_>, params: &Params) -> Result<Self> {
        Self::filled(shape, params, CUBES)
    }

    /// Binds a shape like [`Reduced::bind`], with approximately `cubes` cubes inside.
    pub(super) fn filled(shape: &Shape<'_>, params: &Params, cubes: f64) -> Result<Self> {
        check(shape)?;
        let (mut positions, center, size) = normalized(shape.positions);
        let (given, vertices) = (shape.handles.len(), positions.len());
        let mut own = own_weights(shape.weights);
        let mut energy = params.energy.unwrap_or_else(|| Energy::fitting(&positions));
        let mut parts = Parts::default();
        let mut inside = None;
        if energy == Energy::Volume {
            (inside, parts) = Inside::of(&positions, shape.triangles, &own, |handle| handle, cubes);
        }
        if energy == Energy::Volume && inside.is_none() {
            energy = Energy::Rims;
        }
        let mut elements = elements(&positions, shape.triangles, inside.as_ref());
        if let Some(inside) = &inside {
            own.append(&inside.weights);
            positions.extend_from_slice(&inside.nodes);
        }
        let used = used(shape.triangles, vertices);
        let room = MAX_HANDLES.saturating_sub(given);
        let extras = extras(&own, &used, vertices, (params.extra as usize).min(room), params.seed);
        let handles = given + extras.len();
        let wanted = match params.clusters as usize {
            0 => (2 * handles).min(MAX_CLUSTERS),
            n => n,
        };
        let count = set_clusters(&mut elements, energy, &own, &positions, wanted, params.seed);
        let mut pivots: Vec<DVec3> =
            shape.handles.iter().map(|h| (h.pivot.as_dvec3() - center) / size).collect();
        pivots.extend(extras.iter().map(|e| positions[e.seed]));
        let weights = with_extras(own, &extras, given);

        let assembly = Assembly { positions: &positions, elements: &elements, weights: &weights };
        let mut forms = assembly.forms(handles, count);
        let total: f64 = elements.iter().map(|e| e.measure(&positions)).sum();
        // Without any area only the small quadratic terms remain, and their scale is arbitrary.
        let stiffness = if total > 0.0 && total.is_finite() { total } else { 1.0 } / given as f64;
        let follows = shared(&assembly.follows(given, count), shape.handles);
        let mut pulled = 0.0;
        let mut solvable = None;
        for share in PULLS {
            for (j, &k) in follows.iter().enumerate() {
                (0..3).for_each(|d| forms[k].add(4 * j + d, 4 * j + d, (share - pulled) * stiffness));
            }
            pulled = share;
            let mut laplacian = Mat::zeros(4 * handles, 4 * handles);
            forms.iter().for_each(|form| form.add_to(&mut laplacian));
            keep_to_zero(&mut laplacian, share * stiffness, &pivots, given);
            hold_together(&mut laplacian, share * stiffness, &pivots, shape.handles);
            hinge(&mut laplacian, f64::from(params.hinge) * stiffness, &pivots, shape.handles);
            laplacian.symmetrize();
            let inverse = grounded(&laplacian, given).inverse();
            if inverse.rows == laplacian.rows && inverse.data.iter().all(|v| v.is_finite()) {
                solvable = Some((laplacian, inverse));
                break;
            }
        }
        let Some((laplacian, inverse)) = solvable else {
            return Err(Error::input("the mesh is too degenerate to be solved for", "choose another method"));
        };
        let mut out = Self {
            given,
            handles,
            clusters: count,
            energy,
            parts,
            center,
            size,
            weights: Arc::new(weights.first(vertices)),
            forms: Arc::new(forms),
            pivots,
            laplacian,
            covariance: Mat::default(),
            inverse,
            inverse_covariance: Mat::default(),
            rotations: Mat::default(),
            offset: 0.0,
            rest: Mat::default(),
        };
        let mut rest = Mat::zeros(4 * handles, 3);
        (0..given).for_each(|j| (0..3).for_each(|d| *rest.at(4 * j + d, d) = 1.0));
        out.set_rest(rest);
        Ok(out)
    }

    /// Returns the binding with another rest shape: the pose in which the given handles have these transforms (bind
    /// space to world). Rotations are then relative to that pose.
    pub fn around(&self, transforms: &[DAffine3]) -> Self {
        let mut out = self.clone();
        let mut rest = Mat::default();
        self.stack(transforms, &mut rest);
        out.set_rest(rest);
        out
    }

    /// Writes the transforms as the solver's matrix, four rows per handle by 3 columns, model space. The rows of
    /// abstract handles are zero. Transforms that are not finite are replaced by the identity.
    pub(super) fn stack(&self, transforms: &[DAffine3], t: &mut Mat) {
        t.clear(4 * self.handles, 3);
        for j in 0..self.given {
            let map = transforms.get(j).copied().filter(|m| m.is_finite()).unwrap_or_default();
            let map = model_map(self, &map);
            (0..3).for_each(|d| t.row_mut(4 * j + d).copy_from_slice(&map.matrix3.col(d).to_array()));
            t.row_mut(4 * j + 3).copy_from_slice(&map.translation.to_array());
        }
    }

    pub(super) fn set_rest(&mut self, rest: Mat) {
        let mut covariance = Mat::zeros(3 * self.clusters, 4 * self.handles);
        for (k, form) in self.forms.iter().enumerate() {
            form.covariance(&rest, k, &mut covariance);
        }
        // The energy of the rotations at rest: `½ Σ tr(T₀ᵀ L̃_k T₀) = ½ Σ tr(K̃_k T₀)`.
        let product = covariance.times(&rest);
        self.offset = 0.5 * (0..product.rows).map(|r| product.data[3 * r + r % 3]).sum::<f64>();
        self.inverse_covariance = self.inverse.times(&covariance.transposed());
        self.rotations = covariance.times(&self.inverse_covariance);
        self.covariance = covariance;
        self.rest = rest;
    }

    /// Returns the position to which a handle moves the model-space point `x` in the rest shape.
    pub(super) fn at_rest(&self, handle: usize, x: DVec3) -> DVec3 {
        let row = |d: usize| DVec3::from_slice(self.rest.row(4 * handle + d));
        row(0) * x.x + row(1) * x.y + row(2) * x.z + row(3)
    }

    /// Returns whether a row of the system holds the translation of a given handle.
    pub(super) fn translates(&self, row: usize) -> bool {
        row % 4 == 3 && row / 4 < self.given
    }

    /// Returns the seed positions of the abstract handles, bind space, metres.
    pub fn seeds(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.pivots[self.given..].iter().map(|p| (*p * self.size + self.center).as_vec3())
    }

    /// Converts a point from bind space to model space.
    pub(super) fn model(&self, x: Vec3) -> DVec3 {
        (x.as_dvec3() - self.center) / self.size
    }
}

/// Assigns a handle that moves nothing the cluster of one of its children, or else of its parent.
fn shared(follows: &[Option<usize>], handles: &[Handle]) -> Vec<usize> {
    let mut out = follows.to_vec();
    for j in (0..handles.len()).rev() {
        if let Some(p) = handles[j].parent.filter(|&p| out[p].is_none()) {
            out[p] = out[j];
        }
    }
    for j in 0..handles.len() {
        out[j] = out[j].or(handles[j].parent.and_then(|p| out[p]));
    }
    out.into_iter().map(|k| k.unwrap_or(0)).collect()
}

fn check(shape: &Shape<'_>) -> Result<()> {
    let n = shape.positions.len();
    let problem = if shape.handles.is_empty() {
        "there is no joint that moves the mesh".to_owned()
    } else if shape.handles.len() > MAX_HANDLES {
        format!("{} joints move the mesh, at most {MAX_HANDLES} can be solved for", shape.handles.len())
    } else if shape.weights.len() != n {
        "weights and vertices differ in number".to_owned()
    } else if shape.triangles.iter().flatten().any(|&v| v as usize >= n)
        || shape.weights.joint.iter().any(|&j| usize::from(j) >= shape.handles.len())
        || shape.handles.iter().enumerate().any(|(i, h)| h.parent.is_some_and(|p| p >= i))
    {
        "a triangle, weight or handle names what does not exist".to_owned()
    } else if shape.positions.iter().any(|p| !p.is_finite())
        || shape.handles.iter().any(|h| !h.pivot.is_finite())
        || shape.weights.weight.iter().any(|w| !w.is_finite())
    {
        "a position or weight is not finite".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::input(problem, "choose another method"))
}

/// Returns the positions in units of the model's size, relative to its centre; also the centre and the size.
pub(super) fn normalized(positions: &[Vec3]) -> (Vec<DVec3>, DVec3, f64) {
    let (low, high) = positions.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
        (low.min(p.as_dvec3()), high.max(p.as_dvec3()))
    });
    let size = (high - low).length();
    let (center, size) =
        if size.is_finite() && size > 0.0 { ((low + high) * 0.5, size) } else { (DVec3::ZERO, 1.0) };
    (positions.iter().map(|p| (p.as_dvec3() - center) / size).collect(), center, size)
}

/// Returns the cubes and the triangles of the shell around them, or only the triangles if there are no cubes.
fn elements(positions: &[DVec3], triangles: &[[u32; 3]], inside: Option<&Inside>) -> Vec<Element> {
    let thickness = inside.map_or(1.0, |inside| SKIN * inside.size);
    let skin = triangles.iter().filter_map(|t| triangle(positions, t, thickness));
    let cubes = inside
        .iter()
        .flat_map(|inside| inside.cells.iter().map(|c| cube(c, inside.size, positions.len() as u32)));
    cubes.chain(skin).collect()
}

/// Returns the vertices of all triangles with three distinct corners.
fn used(triangles: &[[u32; 3]], vertices: usize) -> Vec<usize> {
    let mut used = vec![false; vertices];
    let proper = triangles.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
    proper.flatten().for_each(|&v| used[v as usize] = true);
    (0..vertices).filter(|&v| used[v]).collect()
}
