//! What is computed once per character: the reduced matrices `L̃ = MᵀLM` and `K̃ = KM` (paper 2, equations 11 and 12),
//! without ever forming the matrix `M` of linear blend skinning.
//!
//! (differs) One pass over the mesh gives `L̃_k`, the Laplacian of each cluster over the few handles that move it. Their
//! sum is `L̃`, and with `T₀` the transforms of the shape without energy, `K̃_k = T₀ᵀ L̃_k`: so any pose can be made the
//! rest shape without the mesh ([`Reduced::around`]), as a grab needs that starts in the middle of a pose.
//!
//! (differs) Three small quadratic terms are added, all zero in rest and unchanged by rigid motions, so that every
//! handle is determined whatever the mesh: a handle's linear part keeps to the rotation of the cluster that follows it
//! most ([`PULL`]; a flat mesh leaves a column of it free); a handle keeps to the one above it ([`WELD`]; parts of the
//! mesh may hang together by nothing else); and, where wanted, the joint between both keeps together
//! ([`super::Params::hinge`]). Abstract handles keep to zero.

use super::Params;
use super::cluster::{Sites, clusters};
use super::constrain::model_map;
use super::dense::{Cholesky, Mat};
use super::energy::{Element, Energy, elements};
use super::extra::extras;
use super::forms::Form;
use crate::asset::Influences;
use crate::base::math::{DAffine3, DVec3, Vec3};
use crate::base::{Error, Result};
use std::sync::Arc;

/// Share of a mean handle's stiffness that keeps its linear part to its cluster's rotation.
const PULL: f64 = 1e-5;
/// Share of a mean handle's stiffness that keeps a handle to the one above it.
const WELD: f64 = 1e-6;
/// Half the size of what a weld holds together, in sizes of the model.
const WELD_SIZE: f64 = 0.05;
/// Handles at most: the dense matrices grow with their square.
pub const MAX_HANDLES: usize = 512;
/// Rotation clusters at most, where their number is not given.
const MAX_CLUSTERS: usize = 160;

/// A handle: a joint, a point or a region, by where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handle {
    /// Its place in bind space, metres.
    pub pivot: Vec3,
    /// The handle it hangs on.
    pub parent: Option<usize>,
}

/// Weights of all vertices, sparse; sums need not be one.
#[derive(Clone, Debug)]
pub struct Weights {
    offset: Vec<usize>,
    entry: Vec<(u32, f64)>,
}

impl Default for Weights {
    fn default() -> Self {
        Self { offset: vec![0], entry: Vec::new() }
    }
}

impl Weights {
    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.offset.len() - 1
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a vertex.
    pub fn push(&mut self, weights: impl IntoIterator<Item = (usize, f64)>) {
        self.entry.extend(weights.into_iter().map(|(j, w)| (j as u32, w)));
        self.offset.push(self.entry.len());
    }

    /// `(handle, weight)` of a vertex.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entry[self.offset[vertex]..self.offset[vertex + 1]].iter().map(|&(j, w)| (j as usize, w))
    }

    /// As influences for skinning, heaviest first. With abstract handles they do not sum to one.
    pub fn influences(&self) -> Influences {
        let mut out = Influences::default();
        for v in 0..self.len() {
            let mut list: Vec<(u16, f32)> = self.of(v).map(|(j, w)| (j as u16, w as f32)).collect();
            list.retain(|(_, w)| *w > 0.0);
            list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            out.push(list);
        }
        out
    }
}

/// A shape as it is bound.
pub struct Shape<'a> {
    /// Bind positions, metres.
    pub positions: &'a [Vec3],
    /// Triangles.
    pub triangles: &'a [[u32; 3]],
    /// Per vertex over the handles.
    pub weights: &'a Influences,
    /// The handles; a parent comes before its children.
    pub handles: &'a [Handle],
}

/// A bound shape. Inside, lengths are in sizes of the model about its middle.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Handles given.
    pub given: usize,
    /// Handles given and abstract ones.
    pub handles: usize,
    /// Rotation clusters.
    pub clusters: usize,
    /// Bind space to model space: subtract, then divide by `size`.
    pub(super) center: DVec3,
    /// Diagonal of the bounding box, metres.
    pub(super) size: f64,
    /// Weights of all vertices over all handles.
    pub weights: Arc<Weights>,
    /// Laplacian of each cluster.
    forms: Arc<Vec<Form>>,
    /// Pivots, model space.
    pub(super) pivots: Vec<DVec3>,
    /// `L̃`, `4 handles` square.
    pub(super) laplacian: Mat,
    /// `K̃`, `3 clusters` by `4 handles`.
    pub(super) covariance: Mat,
    /// `G`, the inverse of `L̃` with translations of everything fixed softly.
    pub(super) inverse: Mat,
    /// `G K̃ᵀ`.
    pub(super) inverse_covariance: Mat,
    /// `K̃ G K̃ᵀ`.
    pub(super) rotations: Mat,
    /// Energy of rotations alone, so that the rest shape has none.
    pub(super) offset: f64,
    /// `T₀`, `4 handles` by 3, model space.
    pub(super) rest: Mat,
}

impl Reduced {
    /// Binds a shape.
    ///
    /// # Errors
    /// [`Error::Input`] for a shape without triangles of any area, without or with too many handles, or with data that
    /// does not fit together.
    pub fn bind(shape: &Shape<'_>, params: &Params) -> Result<Self> {
        check(shape)?;
        let (positions, center, size) = normalized(shape.positions);
        let elements = elements(&positions, shape.triangles);
        let given = shape.handles.len();
        if elements.is_empty() {
            return Err(Error::input("the mesh has no triangle with an area", "choose another method"));
        }
        let mut used = vec![false; positions.len()];
        elements.iter().flat_map(|e| e.corners).for_each(|v| used[v] = true);
        let own = own_weights(shape.weights, &used);
        let room = MAX_HANDLES.saturating_sub(given);
        let extras = extras(&own, &used, (params.extra as usize).min(room), params.seed);
        let handles = given + extras.len();
        let energy = params.energy.unwrap_or_else(|| Energy::fitting(&positions));
        let wanted = match params.clusters as usize {
            0 => (2 * handles).min(MAX_CLUSTERS),
            n => n,
        };
        let (cluster_of, count) = cluster(&own, &positions, &elements, energy, wanted, params);
        let mut pivots: Vec<DVec3> =
            shape.handles.iter().map(|h| (h.pivot.as_dvec3() - center) / size).collect();
        pivots.extend(extras.iter().map(|e| positions[e.seed]));
        let weights = with_extras(own, &extras, given);

        let assembly = Assembly { positions: &positions, elements: &elements, weights: &weights };
        let mut forms = assembly.forms(handles, energy, &cluster_of, count);
        let total: f64 = elements.iter().map(|e| e.measure(&positions)).sum();
        let stiffness = total / given as f64;
        for (j, k) in assembly.follows(given, energy, &cluster_of, count).into_iter().enumerate() {
            (0..3).for_each(|d| forms[k].add(4 * j + d, 4 * j + d, PULL * stiffness));
        }
        let mut laplacian = Mat::zeros(4 * handles, 4 * handles);
        forms.iter().for_each(|form| form.add_to(&mut laplacian));
        keep_to_zero(&mut laplacian, PULL * stiffness, &pivots, given);
        hold_together(&mut laplacian, stiffness, &pivots, shape.handles, params.hinge);
        laplacian.symmetrize();
        let inverse = grounded(&laplacian, given).inverse();
        if inverse.rows != laplacian.rows || inverse.data.iter().any(|v| !v.is_finite()) {
            return Err(Error::input("the mesh is too degenerate to be bound", "choose another method"));
        }
        let mut out = Self {
            given,
            handles,
            clusters: count,
            center,
            size,
            weights: Arc::new(weights),
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

    /// The same shape with the pose of these transforms (of the given handles, bind space to the world) as the one
    /// without energy. Rotations are then told from that pose on.
    pub fn around(&self, transforms: &[DAffine3]) -> Self {
        let mut out = self.clone();
        out.set_rest(self.stacked(transforms));
        out
    }

    /// Transforms as they are multiplied, `4 handles` by 3, model space; abstract handles zero, broken ones in rest.
    pub(super) fn stacked(&self, transforms: &[DAffine3]) -> Mat {
        let mut t = Mat::zeros(4 * self.handles, 3);
        for j in 0..self.given {
            let map = transforms.get(j).copied().filter(|m| m.is_finite()).unwrap_or_default();
            let map = model_map(self, &map);
            (0..3).for_each(|d| t.row_mut(4 * j + d).copy_from_slice(&map.matrix3.col(d).to_array()));
            t.row_mut(4 * j + 3).copy_from_slice(&map.translation.to_array());
        }
        t
    }

    fn set_rest(&mut self, rest: Mat) {
        let mut covariance = Mat::zeros(3 * self.clusters, 4 * self.handles);
        for (k, form) in self.forms.iter().enumerate() {
            form.covariance(&rest, k, &mut covariance);
        }
        // ½ Σ tr(T₀ᵀ L̃_k T₀) = ½ Σ tr(K̃_k T₀).
        let product = covariance.times(&rest);
        self.offset = 0.5 * (0..product.rows).map(|r| product.data[3 * r + r % 3]).sum::<f64>();
        self.inverse_covariance = self.inverse.times(&covariance.transposed());
        self.rotations = covariance.times(&self.inverse_covariance);
        self.covariance = covariance;
        self.rest = rest;
    }

    /// Where a handle carries a point of model space in the rest shape.
    pub(super) fn at_rest(&self, handle: usize, x: DVec3) -> DVec3 {
        let row = |d: usize| DVec3::from_slice(self.rest.row(4 * handle + d));
        row(0) * x.x + row(1) * x.y + row(2) * x.z + row(3)
    }

    /// Whether a row of the system moves with everything: the translation of a given handle.
    pub(super) fn translates(&self, row: usize) -> bool {
        row % 4 == 3 && row / 4 < self.given
    }

    /// From bind space to model space.
    pub(super) fn model(&self, x: Vec3) -> DVec3 {
        (x.as_dvec3() - self.center) / self.size
    }
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

/// Positions in sizes of the model about its middle.
fn normalized(positions: &[Vec3]) -> (Vec<DVec3>, DVec3, f64) {
    let (low, high) = positions.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
        (low.min(p.as_dvec3()), high.max(p.as_dvec3()))
    });
    let size = (high - low).length();
    let (center, size) =
        if size.is_finite() && size > 0.0 { ((low + high) * 0.5, size) } else { (DVec3::ZERO, 1.0) };
    (positions.iter().map(|p| (p.as_dvec3() - center) / size).collect(), center, size)
}

/// The given weights, each vertex's sum exactly one; a vertex without any follows the first handle.
fn own_weights(influences: &Influences, used: &[bool]) -> Weights {
    let mut out = Weights::default();
    for v in 0..used.len() {
        let sum: f64 = influences.of(v).map(|(_, w)| f64::from(w)).sum();
        if sum > 0.0 {
            out.push(influences.of(v).map(|(j, w)| (usize::from(j), f64::from(w) / sum)));
        } else {
            out.push([(0, 1.0)]);
        }
    }
    out
}

fn with_extras(own: Weights, extras: &[super::extra::Extra], given: usize) -> Weights {
    if extras.is_empty() {
        return own;
    }
    let mut more: Vec<Vec<(usize, f64)>> = vec![Vec::new(); own.len()];
    for (k, extra) in extras.iter().enumerate() {
        extra.weights.iter().for_each(|&(v, w)| more[v as usize].push((given + k, w)));
    }
    let mut out = Weights::default();
    for (v, more) in more.into_iter().enumerate() {
        out.push(own.of(v).chain(more));
    }
    out
}

/// The cluster of every vertex or, for [`Energy::Triangles`], of every element.
fn cluster(
    weights: &Weights,
    positions: &[DVec3],
    elements: &[Element],
    energy: Energy,
    wanted: usize,
    params: &Params,
) -> (Vec<u32>, usize) {
    let handles = weights.entry.iter().map(|(j, _)| *j as usize + 1).max().unwrap_or(1);
    let mut sites = Sites::new(handles);
    match energy {
        Energy::Rims => {
            // Vertices without a triangle have no rotation: they take that of the last one before them.
            let mut used = vec![false; positions.len()];
            elements.iter().flat_map(|e| e.corners).for_each(|v| used[v] = true);
            let list: Vec<usize> = (0..positions.len()).filter(|&v| used[v]).collect();
            list.iter().for_each(|&v| sites.push(weights.of(v), positions[v]));
            let (of, count) = clusters(&sites, wanted, params.seed);
            let mut all = vec![0; positions.len()];
            list.iter().zip(of).for_each(|(&v, k)| all[v] = k);
            (all, count)
        }
        Energy::Triangles => {
            let mut sum = vec![0.0; handles];
            for element in elements {
                let mut named = Vec::new();
                for (j, w) in element.corners.iter().flat_map(|&v| weights.of(v)) {
                    if sum[j] == 0.0 {
                        named.push(j);
                    }
                    sum[j] += w / 3.0;
                }
                let middle = element.corners.iter().map(|&v| positions[v]).sum::<DVec3>() / 3.0;
                sites.push(named.iter().map(|&j| (j, sum[j])), middle);
                named.iter().for_each(|&j| sum[j] = 0.0);
            }
            clusters(&sites, wanted, params.seed)
        }
    }
}

struct Assembly<'a> {
    positions: &'a [DVec3],
    elements: &'a [Element],
    weights: &'a Weights,
}

impl Assembly<'_> {
    /// `L̃_k = Σ_i M_iᵀ (L_k M)_i`, a row of `L_k M` at a time.
    fn forms(&self, handles: usize, energy: Energy, cluster_of: &[u32], count: usize) -> Vec<Form> {
        let mut around: Vec<Vec<(u32, u8)>> = vec![Vec::new(); self.positions.len()];
        let mut moved = vec![false; count * handles];
        for (e, element) in self.elements.iter().enumerate() {
            (0..3).for_each(|k| around[element.corners[k]].push((e as u32, k as u8)));
            for (k, _) in self.shares(e, energy, cluster_of).into_iter().filter(|s| s.1 > 0.0) {
                element.corners.iter().flat_map(|&v| self.weights.of(v)).for_each(|(j, _)| {
                    moved[k * handles + j] = true;
                });
            }
        }
        let mut forms: Vec<Form> = moved.chunks_exact(handles).map(Form::new).collect();
        let mut row = vec![0.0; 4 * handles];
        let mut touched = vec![false; handles];
        let mut list: Vec<usize> = Vec::new();
        // Neighbours by cluster.
        let mut ring: Vec<(usize, usize, f64)> = Vec::new();
        for (v, around) in around.iter().enumerate() {
            ring.clear();
            for &(e, corner) in around {
                let element = &self.elements[e as usize];
                let weights = element.laplacian(usize::from(corner));
                let shares = self.shares(e as usize, energy, cluster_of);
                for (k, share) in shares.into_iter().filter(|s| s.1 > 0.0) {
                    for (&j, w) in element.corners.iter().zip(weights) {
                        match ring.iter_mut().find(|(c, u, _)| *c == k && *u == j) {
                            Some((_, _, sum)) => *sum += share * w,
                            None => ring.push((k, j, share * w)),
                        }
                    }
                }
            }
            ring.sort_by_key(|r| r.0);
            for part in ring.chunk_by(|a, b| a.0 == b.0) {
                for &(_, u, l) in part {
                    let x = self.positions[u];
                    for (j, w) in self.weights.of(u) {
                        if !touched[j] {
                            touched[j] = true;
                            list.push(j);
                        }
                        let lw = l * w;
                        let block = &mut row[4 * j..4 * j + 4];
                        block[0] += lw * x.x;
                        block[1] += lw * x.y;
                        block[2] += lw * x.z;
                        block[3] += lw;
                    }
                }
                let x = self.positions[v];
                let form = &mut forms[part[0].0];
                for (j, w) in self.weights.of(v) {
                    form.add_rows(j, [w * x.x, w * x.y, w * x.z, w], &list, &row);
                }
                for j in list.drain(..) {
                    touched[j] = false;
                    row[4 * j..4 * j + 4].fill(0.0);
                }
            }
        }
        forms
    }

    /// The clusters that an element's corners belong to, with the element's share in each.
    fn shares(&self, index: usize, energy: Energy, cluster_of: &[u32]) -> [(usize, f64); 3] {
        match energy {
            Energy::Rims => {
                let k = self.elements[index].corners.map(|v| cluster_of[v] as usize);
                if k[0] == k[1] && k[1] == k[2] {
                    [(k[0], 1.0), (0, 0.0), (0, 0.0)]
                } else {
                    k.map(|k| (k, 1.0 / 3.0))
                }
            }
            Energy::Triangles => [(cluster_of[index] as usize, 1.0), (0, 0.0), (0, 0.0)],
        }
    }

    /// The cluster that follows each handle most.
    fn follows(&self, given: usize, energy: Energy, cluster_of: &[u32], count: usize) -> Vec<usize> {
        let mut sum = vec![0.0; given * count];
        for (e, element) in self.elements.iter().enumerate() {
            let area = element.measure(self.positions).abs();
            for (k, share) in self.shares(e, energy, cluster_of) {
                for (j, w) in
                    element.corners.iter().flat_map(|&v| self.weights.of(v)).filter(|(j, _)| *j < given)
                {
                    sum[j * count + k] += area * share * w;
                }
            }
        }
        let heaviest = |j: usize| {
            let row = &sum[j * count..(j + 1) * count];
            (0..count).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0)
        };
        (0..given).map(heaviest).collect()
    }
}

/// Pulls abstract handles to zero.
fn keep_to_zero(laplacian: &mut Mat, pull: f64, pivots: &[DVec3], given: usize) {
    for (j, pivot) in pivots.iter().enumerate().skip(given) {
        (0..3).for_each(|d| *laplacian.at(4 * j + d, 4 * j + d) += pull);
        add_square(laplacian, pull, &[(j, *pivot, 1.0)]);
    }
}

/// Adds [`WELD`] and hinges along the tree of handles; trees hang on the nearest handle of those before them.
fn hold_together(laplacian: &mut Mat, stiffness: f64, pivots: &[DVec3], given: &[Handle], hinge: f32) {
    let mut root: Vec<usize> = (0..given.len()).collect();
    for (j, handle) in given.iter().enumerate() {
        if let Some(p) = handle.parent {
            root[j] = root[p];
        }
    }
    for (j, handle) in given.iter().enumerate() {
        let nearest = || {
            let others = (0..given.len()).filter(|&k| root[k] < j);
            others.min_by(|&a, &b| {
                pivots[a].distance_squared(pivots[j]).total_cmp(&pivots[b].distance_squared(pivots[j]))
            })
        };
        let Some(p) = handle.parent.or_else(nearest) else { continue };
        for offset in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
            let x = pivots[j] + WELD_SIZE * offset;
            add_square(laplacian, WELD * stiffness, &[(j, x, 1.0), (p, x, -1.0)]);
        }
        if handle.parent.is_some() && hinge > 0.0 {
            let x = pivots[j];
            add_square(laplacian, f64::from(hinge) * stiffness, &[(j, x, 1.0), (p, x, -1.0)]);
        }
    }
}

/// Adds `weight |Σ sign T_j (x, 1)|²`.
fn add_square(laplacian: &mut Mat, weight: f64, terms: &[(usize, DVec3, f64)]) {
    for &(a, x, s) in terms {
        for &(b, y, t) in terms {
            let (x, y) = ([x.x, x.y, x.z, 1.0], [y.x, y.y, y.z, 1.0]);
            for (i, x) in x.into_iter().enumerate() {
                for (k, y) in y.into_iter().enumerate() {
                    *laplacian.at(4 * a + i, 4 * b + k) += weight * s * t * x * y;
                }
            }
        }
    }
}

/// `L̃` with the translation of everything made as stiff as the rest, factored.
fn grounded(laplacian: &Mat, given: usize) -> Cholesky {
    let mut out = laplacian.clone();
    let n = out.rows;
    let mean = (0..n).map(|i| laplacian.data[i * n + i]).sum::<f64>() / n as f64;
    for a in 0..given {
        for b in 0..given {
            *out.at(4 * a + 3, 4 * b + 3) += mean / given as f64;
        }
    }
    Cholesky::pivoted(out, 1e-15)
}
