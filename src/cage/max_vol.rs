//! Selects the skin vertices that determine the cage (MaxVol).
//!
//! J.-M. Thiery, J. Tierny, T. Boubekeur: *CageR: Cage-Based Reverse Engineering of Animated 3D Shapes*, 2012, section
//! 4; used by Corda et al. 2020, section 4.1. S. Goreinov et al.: *How to find a good submatrix*, 2010.

use crate::base::{Error, Result};
use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, PartialPivLu};
use rayon::prelude::*;

/// The selection is final if no swap of a row enlarges the volume by more than this factor.
const GAIN: f64 = 1.001;

/// The coordinates are rank deficient if the component of every remaining row outside the span of the chosen rows is
/// below this fraction of the largest row.
const RANK: f64 = 1e-9;

/// After this many swaps, the product is recomputed from the coordinates, which limits rounding errors.
const SWAPS: usize = 64;

/// Selects C rows of `phi`, the coordinates of V skin vertices in a cage with C = `columns` vertices (V x C), so that
/// their square matrix has a locally maximal volume: replacing any single row by an allowed one enlarges the absolute
/// determinant by a factor of at most 1.001. `allowed` says which vertices may be selected. Returns the vertices'
/// indices; the order has no meaning. The work is of order V C², and V C for each swap.
///
/// Thiery et al. 2012, section 4: QR with column pivoting of the transposed matrix gives the start.
///
/// # Errors
/// [`Error::Input`] if fewer than C vertices are allowed, or their coordinates have a rank below C.
pub fn max_volume_rows(phi: &[f64], columns: usize, allowed: impl Fn(usize) -> bool) -> Result<Vec<u32>> {
    if columns == 0 {
        return Ok(Vec::new());
    }
    let candidates: Vec<u32> = (0..(phi.len() / columns) as u32).filter(|&v| allowed(v as usize)).collect();
    if candidates.len() < columns {
        return Err(Error::input(
            format!("the cage has {columns} vertices, but the skin only {}", candidates.len()),
            "use a cage with fewer vertices",
        ));
    }
    let rows: Vec<f64> =
        candidates.iter().flat_map(|&v| &phi[v as usize * columns..][..columns]).copied().collect();
    let mut chosen = pivots(&rows, columns)?;
    // Each swap enlarges the volume, so the loop ends; the bound guards against rounding errors.
    for _ in 0..columns + 10 {
        let mut product = times_inverse(&rows, columns, &chosen);
        let mut swaps = 0;
        while swaps < SWAPS && swap(&mut product, columns, &mut chosen) {
            swaps += 1;
        }
        if swaps == 0 {
            break;
        }
    }
    Ok(chosen.into_iter().map(|i| candidates[i]).collect())
}

/// Returns the dot product, computed as four partial sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a.zip(b) {
        (0..4).for_each(|k| sums[k] += a[k] * b[k]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Returns the row with the largest value, and the value; the first row if there are several.
fn largest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.enumerate().fold((0, f64::NEG_INFINITY), |best, (i, v)| if v > best.1 { (i, v) } else { best })
}

/// Returns the pivots of the QR factorisation of the transposed matrix. Each pivot is the row with the largest
/// component outside the span of the pivots before.
fn pivots(rows: &[f64], columns: usize) -> Result<Vec<usize>> {
    let mut rest = rows.to_vec();
    let mut norms: Vec<f64> = rest.par_chunks(columns).map(|row| dot(row, row)).collect();
    let mut first = 0.0;
    let mut chosen = Vec::with_capacity(columns);
    for _ in 0..columns {
        let (pivot, norm) = largest(norms.iter().copied());
        first = if chosen.is_empty() { norm } else { first };
        if norm.is_nan() || norm <= first * RANK * RANK {
            return Err(Error::input(
                format!("the skin determines only {} of the cage's {columns} vertices", chosen.len()),
                "use a cage with fewer vertices, or one that is nearer to the skin",
            ));
        }
        chosen.push(pivot);
        let scale = 1.0 / norm.sqrt();
        let unit: Vec<f64> = rest[pivot * columns..][..columns].iter().map(|x| x * scale).collect();
        rest.par_chunks_mut(columns).zip(&mut norms).for_each(|(row, norm)| {
            let along = dot(row, &unit);
            row.iter_mut().zip(&unit).for_each(|(x, u)| *x -= along * u);
            *norm = dot(row, row);
        });
    }
    Ok(chosen)
}

/// Returns the rows times the inverse of the chosen rows' matrix.
fn times_inverse(rows: &[f64], columns: usize, chosen: &[usize]) -> Vec<f64> {
    let square = Mat::from_fn(columns, columns, |i, j| rows[chosen[i] * columns + j]);
    let inverse = PartialPivLu::new(square.as_ref()).inverse();
    let inverse: Vec<f64> = (0..columns * columns).map(|k| inverse[(k % columns, k / columns)]).collect();
    let mut product = vec![0.0; rows.len()];
    product.par_chunks_mut(columns).zip(rows.par_chunks(columns)).for_each(|(out, row)| {
        out.iter_mut().zip(inverse.chunks(columns)).for_each(|(out, column)| *out = dot(row, column));
    });
    product
}

/// Replaces one chosen row, if that enlarges the volume by more than [`GAIN`], and updates the product. Returns whether
/// it did so.
fn swap(product: &mut [f64], columns: usize, chosen: &mut [usize]) -> bool {
    let best: Vec<(usize, f64)> =
        product.par_chunks(columns).map(|row| largest(row.iter().map(|x| x.abs()))).collect();
    let (incoming, gain) = largest(best.iter().map(|b| b.1));
    if gain.is_nan() || gain <= GAIN {
        return false;
    }
    let outgoing = best[incoming].0;
    let mut step = product[incoming * columns..][..columns].to_vec();
    let scale = 1.0 / step[outgoing];
    step[outgoing] -= 1.0;
    step.iter_mut().for_each(|x| *x *= scale);
    product.par_chunks_mut(columns).for_each(|row| {
        let along = row[outgoing];
        row.iter_mut().zip(&step).for_each(|(x, s)| *x -= along * s);
    });
    chosen[outgoing] = incoming;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;

    fn volume(phi: &[f64], columns: usize, rows: &[u32]) -> f64 {
        let square = Mat::from_fn(columns, columns, |i, j| phi[rows[i] as usize * columns + j]);
        let factor = PartialPivLu::new(square.as_ref());
        (0..columns).map(|k| factor.U()[(k, k)].abs()).product()
    }

    #[test]
    fn no_single_swap_enlarges_the_volume() {
        let (columns, vertices) = (6, 150);
        for seed in 0..10 {
            let mut random = Random::new(seed);
            let phi: Vec<f64> = (0..vertices * columns).map(|_| f64::from(random.unit()) - 0.3).collect();
            let allowed = |v: usize| !v.is_multiple_of(3);
            let rows = max_volume_rows(&phi, columns, allowed).unwrap();
            assert!(rows.len() == columns && rows.iter().all(|&v| allowed(v as usize)), "{rows:?}");
            let found = volume(&phi, columns, &rows);
            for (k, v) in
                (0..columns).flat_map(|k| (0..vertices).map(move |v| (k, v))).filter(|e| allowed(e.1))
            {
                let mut other = rows.clone();
                other[k] = v as u32;
                assert!(volume(&phi, columns, &other) <= found * 1.001001, "row {v} for {k}");
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(pool.install(|| max_volume_rows(&phi, columns, allowed)).unwrap(), rows);
        }
    }

    #[test]
    fn a_cage_that_the_skin_does_not_determine_is_refused() {
        let row = |v: usize| [v as f64, 1.0, (v * v) as f64, v as f64 + 1.0];
        let phi: Vec<f64> = (0..9).flat_map(row).collect();
        let text = max_volume_rows(&phi, 4, |_| true).unwrap_err().to_string();
        assert!(
            text.contains("determines only 3 of the cage's 4 vertices") && text.contains("fewer"),
            "{text}"
        );
        let text = max_volume_rows(&phi, 4, |v| v < 3).unwrap_err().to_string();
        assert!(text.contains("has 4 vertices, but the skin only 3"), "{text}");
        assert!(max_volume_rows(&[f64::NAN; 8], 2, |_| true).is_err());
        assert!(max_volume_rows(&[], 0, |_| true).unwrap().is_empty());
    }
}
