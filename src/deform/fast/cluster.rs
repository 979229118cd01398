//! Rotation clusters by k-means in weight space (Jacobson et al. 2012, section 3.2).
//!
//! Sites are vertices or mesh elements; sites with similar weights rotate alike. (differs) The position, times 0.03,
//! is appended to the weights. Sites with equal weights then remain distinct if there are more clusters than distinct
//! weight vectors.

use crate::base::Random;
use crate::base::math::DVec3;
use pulp::Arch;

/// Maximum iterations of k-means.
const ROUNDS: usize = 16;
/// Number of sites from which k-means computes its centres; at least four per cluster.
const SAMPLE: usize = 6000;
/// Scale of the position in weight space, for positions in units of the model's size.
const POSITION: f32 = 0.03;

/// Points in weight space, stored as sparse rows.
#[derive(Default)]
pub(super) struct Sites {
    offset: Vec<usize>,
    entry: Vec<(u32, f32)>,
    dims: usize,
}

impl Sites {
    /// Creates an empty set of sites in a space with `weights` weights and three position coordinates.
    pub fn new(weights: usize) -> Self {
        Self { offset: vec![0], entry: Vec::new(), dims: weights + 3 }
    }

    /// Adds a site; each weight index appears at most once.
    pub fn push(&mut self, weights: impl IntoIterator<Item = (usize, f64)>, position: DVec3) {
        self.entry.extend(weights.into_iter().map(|(j, w)| (j as u32, w as f32)));
        let first = self.dims as u32 - 3;
        let position = position.as_vec3() * POSITION;
        self.entry.extend(position.to_array().into_iter().enumerate().map(|(k, x)| (first + k as u32, x)));
        self.offset.push(self.entry.len());
    }

    fn len(&self) -> usize {
        self.offset.len() - 1
    }

    fn of(&self, site: usize) -> &[(u32, f32)] {
        &self.entry[self.offset[site]..self.offset[site + 1]]
    }
}

/// Cluster centres, transposed: `dims` rows of `count` values.
struct Centers {
    count: usize,
    value: Vec<f32>,
    /// Half the squared length of each centre.
    half: Vec<f32>,
}

impl Centers {
    fn measure(&mut self) {
        self.half = vec![0.0; self.count];
        for row in self.value.chunks_exact(self.count) {
            self.half.iter_mut().zip(row).for_each(|(h, v)| *h += 0.5 * v * v);
        }
    }

    /// Returns the nearest centre by `|x - c|² = |x|² - 2 (x·c - ½|c|²)`.
    #[inline(always)]
    fn nearest(&self, site: &[(u32, f32)], score: &mut [f32]) -> usize {
        score.copy_from_slice(&self.half);
        for &(dim, w) in site {
            let row = &self.value[dim as usize * self.count..][..self.count];
            score.iter_mut().zip(row).for_each(|(s, c)| *s -= w * c);
        }
        let mut best = 0;
        for (k, s) in score.iter().enumerate() {
            if *s < score[best] {
                best = k;
            }
        }
        best
    }
}

/// Assigns every site a cluster in `0 .. count`. No cluster is empty, and `count` is at most `wanted`.
pub(super) fn clusters(sites: &Sites, wanted: usize, seed: u64) -> (Vec<u32>, usize) {
    if sites.len() == 0 || wanted == 0 {
        return (vec![0; sites.len()], usize::from(sites.len() > 0));
    }
    if wanted >= sites.len() {
        return ((0..sites.len() as u32).collect(), sites.len());
    }
    let mut random = Random::new(seed);
    let sample: Vec<usize> = if sites.len() <= SAMPLE.max(4 * wanted) {
        (0..sites.len()).collect()
    } else {
        (0..SAMPLE.max(4 * wanted)).map(|_| random.below(sites.len())).collect()
    };
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut centers = seeds(sites, &sample, wanted, &mut random);
            let mut score = vec![0.0; centers.count];
            let mut of = vec![usize::MAX; sample.len()];
            for _ in 0..ROUNDS {
                let mut moved = 0;
                for (of, &site) in of.iter_mut().zip(&sample) {
                    let nearest = centers.nearest(sites.of(site), &mut score);
                    moved += usize::from(*of != nearest);
                    *of = nearest;
                }
                if moved * 500 <= sample.len() {
                    break;
                }
                centers.set_means(sites, &sample, &of);
            }
            let all = (0..sites.len()).map(|s| centers.nearest(sites.of(s), &mut score) as u32);
            compact(all.collect(), centers.count)
        },
    )
}

impl Centers {
    #[inline(always)]
    fn set_means(&mut self, sites: &Sites, sample: &[usize], of: &[usize]) {
        let mut count = vec![0usize; self.count];
        of.iter().for_each(|&k| count[k] += 1);
        for row in self.value.chunks_exact_mut(self.count) {
            // A centre that has no sites in this round does not move.
            row.iter_mut().zip(&count).filter(|(_, n)| **n > 0).for_each(|(v, _)| *v = 0.0);
        }
        for (&k, &site) in of.iter().zip(sample) {
            for &(dim, w) in sites.of(site) {
                self.value[dim as usize * self.count + k] += w;
            }
        }
        for row in self.value.chunks_exact_mut(self.count) {
            row.iter_mut().zip(&count).filter(|(_, n)| **n > 0).for_each(|(v, n)| *v /= *n as f32);
        }
        self.measure();
    }
}

/// Chooses initial centres that are far from each other (k-means++, Arthur and Vassilvitskii 2007).
#[inline(always)]
fn seeds(sites: &Sites, sample: &[usize], wanted: usize, random: &mut Random) -> Centers {
    let own: Vec<f32> = sample.iter().map(|&s| sites.of(s).iter().map(|(_, w)| w * w).sum()).collect();
    let mut distance = vec![f32::INFINITY; sample.len()];
    let mut chosen = vec![sample[random.below(sample.len())]];
    let mut dense = vec![0.0; sites.dims];
    while chosen.len() <= wanted {
        let last = sites.of(chosen[chosen.len() - 1]);
        dense.fill(0.0);
        last.iter().for_each(|&(dim, w)| dense[dim as usize] = w);
        let length: f32 = last.iter().map(|(_, w)| w * w).sum();
        let mut total = 0.0f64;
        for ((d, &s), own) in distance.iter_mut().zip(sample).zip(&own) {
            let dot: f32 = sites.of(s).iter().map(|&(dim, w)| w * dense[dim as usize]).sum();
            *d = d.min((own + length - 2.0 * dot).max(0.0));
            total += f64::from(*d);
        }
        if chosen.len() == wanted || total <= 0.0 {
            break;
        }
        let mut left = f64::from(random.unit()) * total;
        let at = distance.iter().position(|d| {
            left -= f64::from(*d);
            left < 0.0
        });
        // Because of rounding the loop may end without a choice; the farthest site is then chosen.
        let far = || (0..sample.len()).max_by(|&a, &b| distance[a].total_cmp(&distance[b]));
        chosen.push(sample[at.or_else(far).unwrap_or(0)]);
    }
    let count = chosen.len();
    let mut centers = Centers { count, value: vec![0.0; count * sites.dims], half: Vec::new() };
    for (k, &site) in chosen.iter().enumerate() {
        for &(dim, w) in sites.of(site) {
            centers.value[dim as usize * count + k] = w;
        }
    }
    centers.measure();
    centers
}

/// Removes empty clusters and renumbers the remaining ones.
fn compact(mut of: Vec<u32>, count: usize) -> (Vec<u32>, usize) {
    let mut used = vec![false; count];
    of.iter().for_each(|&k| used[k as usize] = true);
    let mut next = 0;
    let new: Vec<u32> = used
        .iter()
        .map(|&u| {
            next += u32::from(u);
            next.wrapping_sub(1)
        })
        .collect();
    of.iter_mut().for_each(|k| *k = new[*k as usize]);
    (of, next as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_equal_weights_are_found_and_nothing_is_empty() {
        let mut sites = Sites::new(3);
        for i in 0..300usize {
            sites.push([(i % 3, 1.0)], DVec3::new(0.0, i as f64 / 300.0, 0.0));
        }
        let (of, count) = clusters(&sites, 3, 7);
        assert_eq!(count, 3);
        assert!((0..300).all(|i| of[i] == of[i % 3]), "{of:?}");
        let (of, count) = clusters(&sites, 50, 7);
        assert!((0..count as u32).all(|k| of.contains(&k)) && count > 40, "{count}");
        assert_eq!(clusters(&sites, 1000, 7).1, 300);
        assert_eq!(clusters(&Sites::new(2), 4, 1).0.len(), 0);
    }
}
