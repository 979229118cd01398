//! Bindings on disk, keyed by a hash of their inputs. The file holds the reduced matrices, except those that
//! [`Reduced::around`] recomputes. A file with unexpected contents is ignored.

use super::bind::{Reduced, Shape};
use super::dense::Mat;
use super::energy::Energy;
use super::forms::Form;
use super::inside::Parts;
use super::weights::Weights;
use super::{MAX_HANDLES, Params};
use crate::base::Result;
use crate::base::math::{DVec3, Vec3};
use crate::bind::{
    Cache, Key,
    packed::{Reader, Writer},
};
use std::sync::Arc;

impl Reduced {
    /// Binds a shape like [`Reduced::bind`], but reads the binding from the cache if it contains one.
    ///
    /// # Errors
    /// The errors of [`Reduced::bind`].
    pub fn kept(cache: Option<&Cache>, shape: &Shape<'_>, params: &Params) -> Result<Self> {
        let Some(cache) = cache else { return Self::bind(shape, params) };
        let key = key(shape, params);
        let found = cache.get(&key).and_then(|bytes| unpacked(&bytes));
        if let Some(found) =
            found.filter(|f| f.given == shape.handles.len() && f.weights.len() == shape.positions.len())
        {
            return Ok(found);
        }
        let made = Self::bind(shape, params)?;
        cache.put(&key, &packed(&made));
        Ok(made)
    }
}

/// Hashes all inputs of a binding. A change of the binding code needs a new name in the key.
fn key(shape: &Shape<'_>, params: &Params) -> Key {
    let parents: Vec<u64> = shape.handles.iter().map(|h| h.parent.map_or(u64::MAX, |p| p as u64)).collect();
    let pivots: Vec<Vec3> = shape.handles.iter().map(|h| h.pivot).collect();
    let energy = params.energy.map_or(u32::MAX, number);
    let numbers = [params.extra, params.clusters, params.hinge.to_bits(), energy];
    Key::new("fast binding 2")
        .points(shape.positions)
        .bytes(bytemuck::cast_slice(shape.triangles))
        .bytes(bytemuck::cast_slice(&shape.weights.offset))
        .bytes(bytemuck::cast_slice(&shape.weights.joint))
        .bytes(bytemuck::cast_slice(&shape.weights.weight))
        .points(&pivots)
        .bytes(bytemuck::cast_slice(&parents))
        .bytes(bytemuck::cast_slice(&numbers))
        .bytes(&params.seed.to_le_bytes())
}

fn number(energy: Energy) -> u32 {
    match energy {
        Energy::Rims => 0,
        Energy::Triangles => 1,
        Energy::Volume => 2,
    }
}

fn packed(reduced: &Reduced) -> Vec<u8> {
    let mut out = Writer::default();
    let r = reduced;
    [r.given, r.handles, r.clusters, r.parts.all, r.parts.open, r.parts.cubes, number(r.energy) as usize]
        .into_iter()
        .for_each(|n| out.count(n));
    out.floats(&[r.center.x, r.center.y, r.center.z, r.size]);
    out.floats(&r.pivots.iter().flat_map(|p| p.to_array()).collect::<Vec<_>>());
    out.count(r.weights.len());
    for v in 0..r.weights.len() {
        let row: Vec<_> = r.weights.of(v).collect();
        out.row(row.into_iter());
    }
    for form in r.forms.iter() {
        out.count(form.handles().len());
        form.handles().iter().for_each(|&j| out.count(j));
        out.floats(&form.matrix().data);
    }
    for matrix in [&r.laplacian, &r.inverse, &r.rest] {
        out.floats(&matrix.data);
    }
    out.0
}

fn unpacked(bytes: &[u8]) -> Option<Reduced> {
    let mut from = Reader(bytes);
    let [given, handles, clusters, all, open, cubes, energy] = from.counts()?;
    if given == 0 || handles < given || handles > MAX_HANDLES || clusters == 0 || clusters > bytes.len() {
        return None;
    }
    let energy = [Energy::Rims, Energy::Triangles, Energy::Volume]
        .into_iter()
        .find(|e| number(*e) as usize == energy)?;
    let [x, y, z, size] = from.floats(4)?.try_into().ok()?;
    let pivots = from.floats(3 * handles)?.chunks_exact(3).map(DVec3::from_slice).collect();
    let mut weights = Weights::default();
    let [vertices] = from.counts()?;
    for _ in 0..vertices {
        let row = from.row()?;
        if row.iter().any(|e| e.0 >= handles) {
            return None;
        }
        weights.push(row);
    }
    let mut forms = Vec::new();
    for _ in 0..clusters {
        let [count] = from.counts()?;
        let moved: Vec<usize> = (0..count).map(|_| Some(from.counts::<1>()?[0])).collect::<Option<_>>()?;
        forms.push(Form::of(moved, handles, from.floats(count.checked_mul(4 * 4 * count)?)?)?);
    }
    let mut square = |rows: usize, cols: usize| Some(Mat { rows, cols, data: from.floats(rows * cols)? });
    let (laplacian, inverse) = (square(4 * handles, 4 * handles)?, square(4 * handles, 4 * handles)?);
    let rest = square(4 * handles, 3)?;
    if !from.0.is_empty() || size <= 0.0 {
        return None;
    }
    let mut out = Reduced {
        given,
        handles,
        clusters,
        energy,
        parts: Parts { all, open, cubes },
        center: DVec3::new(x, y, z),
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
    out.set_rest(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::{Body, Constraint, Solver};
    use super::*;
    use crate::deform::testing;

    #[test]
    fn kept_bindings_are_the_same_to_the_bit_and_broken_ones_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 64 << 20);
        let character = &testing::cylinder(3, 8, 12).character;
        let params = Params { extra: 3, ..Params::default() };
        let bind = |params: &Params| Body::kept(Some(&cache), character, params).unwrap();
        let made = bind(&params);
        let files =
            || -> Vec<_> { std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect() };
        assert_eq!(files().len(), 1);
        let file = files().remove(0);
        let written = || std::fs::metadata(&file).unwrap().modified().unwrap();
        let before = written();
        let solve = |body: &Body| {
            let reduced = &body.reduced;
            let constrained = reduced.constrain(vec![Constraint::Full { handle: 0 }]).unwrap();
            let mut solver = Solver::new(reduced, &constrained);
            solver.solve(3, Default::default());
            solver.exact(reduced)
        };
        let again = bind(&params);
        assert_eq!(written(), before, "written again");
        assert_eq!(packed(&again.reduced), packed(&made.reduced));
        assert_eq!((again.reduced.energy, again.reduced.parts), (made.reduced.energy, made.reduced.parts));
        assert_eq!(solve(&again), solve(&made));
        let plain = Body::bind(character, &params).unwrap();
        assert_eq!(packed(&plain.reduced), packed(&made.reduced));
        // Truncated data and foreign data under the correct file name.
        let whole = std::fs::read(&file).unwrap();
        for bytes in [&whole[..whole.len() / 2], b"nonsense".as_slice(), b"".as_slice()] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(packed(&bind(&params).reduced), packed(&made.reduced));
            assert_eq!(std::fs::read(&file).unwrap(), whole);
        }
        // A change of the settings changes the key.
        assert_ne!(bind(&Params { extra: 2, ..params.clone() }).reduced.handles, made.reduced.handles);
        assert_eq!(files().len(), 2);
        // The number of iterations does not change the key.
        bind(&Params { iterations: 3, ..params });
        assert_eq!(files().len(), 2);
    }

    #[test]
    fn whatever_bytes_there_are_nothing_breaks() {
        let character = &testing::cylinder(2, 6, 6).character;
        let bytes = packed(&Body::bind(character, &Params::default()).unwrap().reduced);
        assert!(unpacked(&bytes).is_some());
        for cut in (0..bytes.len()).step_by(97) {
            assert!(unpacked(&bytes[..cut]).is_none(), "{cut}");
        }
        // One corrupt byte at a time, which also makes counts too large.
        for at in (0..28).chain((bytes.len() / 3..bytes.len()).step_by(611)) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0xff;
            let _ = unpacked(&bytes);
        }
    }
}
