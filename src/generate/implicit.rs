//! Implicit bodies: smoothly blended round cones in layers.
//!
//! Values are first-order estimates of the distance to the surface, metres, negative inside. The code uses only sums,
//! products, quotients and square roots. IEEE 754 defines these exactly, so every machine gives equal results.

use crate::base::math::{Mat3, Vec3};

/// A round cone from `a` to `b`, possibly flattened, that is added to its layer or subtracted from it.
#[derive(Clone, Debug)]
pub(super) struct Cone {
    a: Vec3,
    axis: Vec3,
    ra: f32,
    rb: f32,
    bulge: f32,
    /// Transforms from space to the cone's own space, where the cone is round.
    round_from_space: Mat3,
    center: Vec3,
    bound: f32,
    blend: f32,
    carve: bool,
    cut: Option<(Vec3, f32)>,
    /// Part of the body to which the shape belongs. Only bones of the same group may move this part, see
    /// [`super::weights`].
    pub group: u16,
    /// Target edge length on this shape, metres, before scaling to the vertex count.
    pub size: f32,
}

impl Cone {
    /// Creates a round cone with radii `ra` and `rb`, metres.
    pub fn new(a: Vec3, ra: f32, b: Vec3, rb: f32) -> Self {
        let mut cone = Self {
            a,
            axis: b - a,
            ra,
            rb,
            bulge: 0.0,
            round_from_space: Mat3::IDENTITY,
            center: (a + b) * 0.5,
            bound: 0.0,
            blend: 0.0,
            carve: false,
            cut: None,
            group: 0,
            size: 0.02,
        };
        cone.bound = (b - a).length() * 0.5 + ra.max(rb);
        cone
    }

    pub fn ball(center: Vec3, radius: f32) -> Self {
        Self::new(center, radius, center, radius)
    }

    pub fn ellipsoid(center: Vec3, radii: Vec3) -> Self {
        Self::ball(center, 1.0).scaled(Vec3::X, radii.x).scaled(Vec3::Y, radii.y).scaled(Vec3::Z, radii.z)
    }

    /// Scales the shape along a unit axis. If several axes are scaled, they must be orthogonal.
    pub fn scaled(mut self, unit: Vec3, factor: f32) -> Self {
        let s = 1.0 / factor - 1.0;
        let stretch = Mat3::from_cols(
            Vec3::X + unit * (unit.x * s),
            Vec3::Y + unit * (unit.y * s),
            Vec3::Z + unit * (unit.z * s),
        );
        let b = self.a + self.round_from_space.inverse() * self.axis;
        self.round_from_space = stretch * self.round_from_space;
        self.axis = self.round_from_space * (b - self.a);
        // The bound on the shape needs the largest stretch from the cone's space back to space. The longest column of
        // the inverse estimates this stretch.
        let inverse = self.round_from_space.inverse();
        let grow = [inverse.x_axis, inverse.y_axis, inverse.z_axis].map(Vec3::length);
        let largest = grow[0].max(grow[1]).max(grow[2]);
        self.bound = (b - self.a).length() * 0.5 + (self.ra.max(self.rb) + self.bulge) * largest;
        self
    }

    /// Adds a bulge to the radius, `metres` high at the middle of the cone.
    pub fn bulge(mut self, metres: f32) -> Self {
        self.bulge = metres;
        self.bound += metres.max(0.0);
        self
    }

    /// Sets the width over which the shape blends with the earlier shapes of its layer.
    pub fn blend(mut self, metres: f32) -> Self {
        self.blend = metres;
        self
    }

    /// Subtracts the shape instead of adding it.
    pub fn carve(mut self) -> Self {
        self.carve = true;
        self
    }

    /// Keeps only the part of the shape where `normal . p < offset`.
    pub fn cut(mut self, normal: Vec3, offset: f32) -> Self {
        self.cut = Some((normal, offset));
        self
    }

    pub fn group(mut self, group: u16) -> Self {
        self.group = group;
        self
    }

    pub fn size(mut self, metres: f32) -> Self {
        self.size = metres;
        self
    }

    fn value(&self, p: Vec3) -> (f32, Vec3) {
        let q = self.round_from_space * (p - self.a);
        let square = self.axis.length_squared();
        let t = if square > 0.0 { (q.dot(self.axis) / square).clamp(0.0, 1.0) } else { 0.0 };
        let from_axis = q - self.axis * t;
        let length = from_axis.length();
        let mut gradient = if length > 0.0 { from_axis / length } else { Vec3::Y };
        let radius = self.ra + (self.rb - self.ra) * t + self.bulge * 4.0 * t * (1.0 - t);
        if t > 0.0 && t < 1.0 {
            gradient -= self.axis * ((self.rb - self.ra + 4.0 * self.bulge * (1.0 - 2.0 * t)) / square);
        }
        let gradient = self.round_from_space.transpose() * gradient;
        let slope = gradient.length().max(1e-6);
        let (mut d, mut g) = ((length - radius) / slope, gradient / slope);
        if let Some((normal, offset)) = self.cut {
            // The rim of the cut is rounded, and wide enough for the mesh to resolve.
            let (h, plane) = (2.0 * self.size, normal.dot(p) - offset);
            (d, g, _) = smooth_min(-d, -g, -plane, -normal, h);
            (d, g) = (-d, -g);
        }
        (d, g)
    }
}

/// Returns the polynomial smooth minimum of `a` and `b` (Quilez), which equals the minimum if `a` and `b` differ by `k`
/// or more. Also returns the blended gradient and the blend weight of `a`, 0..=1.
fn smooth_min(a: f32, ga: Vec3, b: f32, gb: Vec3, k: f32) -> (f32, Vec3, f32) {
    // Outside the blend, return the smaller value directly: the formula loses precision if the larger value is huge.
    if (b - a).abs() >= k {
        return if a < b { (a, ga, 1.0) } else { (b, gb, 0.0) };
    }
    let h = 0.5 + 0.5 * (b - a) / k;
    (b + (a - b) * h - k * h * (1.0 - h), gb + (ga - gb) * h, h)
}

/// The values of an implicit body at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// First-order estimate of the distance to the surface, metres, negative inside.
    pub distance: f32,
    /// Gradient of the distance, approximately unit length.
    pub gradient: Vec3,
    /// Target edge length before scaling, metres.
    pub size: f32,
    /// Bone group of the nearest shape; the part of the body.
    pub group: u16,
}

const NOTHING: Sample = Sample { distance: 1e9, gradient: Vec3::Y, size: 0.02, group: 0 };

/// The shapes of one material.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    cones: Vec<Cone>,
    /// Largest blend width of the layer's cones; more distant cones have no effect.
    widest: f32,
    /// Width over which the layer blends with earlier layers.
    pub blend: f32,
    /// Strength of the body's relief on this layer, 0..=1.
    pub rough: f32,
}

impl Layer {
    /// Creates an empty layer that blends with earlier layers over the width `blend`, metres.
    pub fn new(blend: f32) -> Self {
        Self { cones: Vec::new(), widest: 0.0, blend, rough: 1.0 }
    }

    pub fn add(&mut self, cone: Cone) {
        self.widest = self.widest.max(cone.blend);
        self.cones.push(cone);
    }

    fn sample(&self, p: Vec3, limit: f32) -> Sample {
        let mut s = NOTHING;
        let mut nearest = f32::INFINITY;
        for cone in &self.cones {
            let least = (p - cone.center).length() - cone.bound;
            if least > limit + self.widest || least > s.distance.abs() + cone.blend {
                continue;
            }
            let (d, g) = cone.value(p);
            if cone.carve {
                let (v, gradient, h) = smooth_min(-s.distance, -s.gradient, d, g, cone.blend);
                s.distance = -v;
                s.gradient = -gradient;
                s.size = cone.size + (s.size - cone.size) * h;
            } else {
                let (v, gradient, h) = smooth_min(s.distance, s.gradient, d, g, cone.blend);
                s = Sample {
                    distance: v,
                    gradient,
                    size: cone.size + (s.size - cone.size) * h,
                    group: if d < nearest { cone.group } else { s.group },
                };
                nearest = nearest.min(d);
            }
        }
        s
    }
}

/// A relief function: returns height and gradient at a point.
pub(super) type Relief = fn(Vec3) -> (f32, Vec3);

/// An implicit body made of layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Implicit {
    /// Layers in order of blending.
    pub layers: Vec<Layer>,
    /// Relief that raises the surface.
    pub relief: Option<Relief>,
}

impl Implicit {
    /// Evaluates the whole body at a point.
    pub fn sample(&self, p: Vec3) -> Sample {
        let mut s = NOTHING;
        let mut nearest = f32::INFINITY;
        let mut rough = 1.0;
        for layer in &self.layers {
            let l = layer.sample(p, s.distance.abs() + layer.blend);
            let (v, gradient, h) = smooth_min(s.distance, s.gradient, l.distance, l.gradient, layer.blend);
            s = Sample {
                distance: v,
                gradient,
                size: l.size + (s.size - l.size) * h,
                group: if l.distance < nearest { l.group } else { s.group },
            };
            nearest = nearest.min(l.distance);
            rough = layer.rough + (rough - layer.rough) * h;
        }
        // Far from the surface the relief has no effect; near the surface it shifts the distance.
        if let (Some(relief), true) = (self.relief, s.distance.abs() < 0.1 && rough > 0.0) {
            let (height, slope) = relief(p);
            s.distance -= height * rough;
            s.gradient -= slope * rough;
        }
        // All bodies stand on the ground: they are cut flat at y = 0, with a small rounded rim.
        let (d, g, _) = smooth_min(-s.distance, -s.gradient, p.y, Vec3::Y, 0.008);
        (s.distance, s.gradient) = (-d, -g);
        s
    }

    /// Returns the index of the outermost layer at a point.
    pub fn outermost(&self, p: Vec3) -> usize {
        let mut best = (f32::INFINITY, 0);
        for (l, layer) in self.layers.iter().enumerate() {
            let d = layer.sample(p, best.0.abs() + 0.05).distance;
            if d < best.0 {
                best = (d, l);
            }
        }
        best.1
    }

    /// Returns the body without the shapes that do not affect points within `radius` of `center`, for faster
    /// evaluation. `center` must lie near the surface.
    pub fn near(&self, center: Vec3, radius: f32) -> Self {
        let layers = self.layers.iter().map(|layer| {
            let reach =
                |c: &&Cone| (center - c.center).length() - c.bound < 2.0 * radius + 2.0 * layer.widest;
            Layer { cones: layer.cones.iter().filter(reach).cloned().collect(), ..*layer }
        });
        Self { layers: layers.collect(), relief: self.relief }
    }

    /// Returns the layer's distance minus the smallest distance of all other layers. The result is negative if the
    /// layer is outermost.
    pub fn lead(&self, layer: usize, p: Vec3) -> f32 {
        let own = self.layers[layer].sample(p, f32::INFINITY).distance;
        let others = (0..self.layers.len())
            .filter(|&l| l != layer)
            .map(|l| self.layers[l].sample(p, f32::INFINITY).distance)
            .fold(f32::INFINITY, f32::min);
        own - others
    }

    /// Moves a point onto the nearby surface by at most three Newton steps. Each step is no longer than `reach`,
    /// metres.
    pub fn project(&self, mut p: Vec3, reach: f32) -> Vec3 {
        for _ in 0..3 {
            let s = self.sample(p);
            let step = s.gradient * (s.distance / s.gradient.length_squared().max(0.25));
            let length = step.length();
            p -= if length > reach { step * (reach / length) } else { step };
            if length < 1e-6 {
                break;
            }
        }
        p
    }

    /// Returns the outward unit normal.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        self.sample(p).gradient.normalize_or(Vec3::Y)
    }

    /// Returns a box around the whole body, relief included.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let cones = || self.layers.iter().flat_map(|l| &l.cones).filter(|c| !c.carve);
        let low = cones().map(|c| c.center - c.bound).fold(Vec3::INFINITY, Vec3::min);
        let high = cones().map(|c| c.center + c.bound).fold(Vec3::NEG_INFINITY, Vec3::max);
        (low - 0.03, high + 0.03)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_the_derivatives_of_the_value() {
        let mut layer = Layer::new(0.0);
        layer.add(Cone::new(Vec3::ZERO, 0.1, Vec3::new(0.2, 0.3, 0.0), 0.06).bulge(0.02));
        layer.add(Cone::ball(Vec3::new(0.1, 0.0, 0.05), 0.08).blend(0.05));
        let body = Implicit { layers: vec![layer], relief: None };
        for p in [Vec3::new(0.12, 0.02, 0.1), Vec3::new(0.25, 0.2, 0.05), Vec3::new(-0.1, 0.05, 0.0)] {
            let s = body.sample(p);
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let h = 1e-3;
                let slope =
                    (body.sample(p + axis * h).distance - body.sample(p - axis * h).distance) / (2.0 * h);
                // Away from the surface, a first-order distance does not have a gradient of unit length.
                assert!((slope - s.gradient.dot(axis)).abs() < 0.12, "{slope} {:?}", s.gradient);
            }
            let on = body.project(p, 0.1);
            assert!(body.sample(on).distance.abs() < 1e-4);
        }
    }
}
