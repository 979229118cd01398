//! SIMD vectors of the CPU's native width with arithmetic operators, on top of `pulp`'s safe instructions.

use pulp::Simd;
use std::ops::{Add, Mul, Sub};

/// One vector register of f32 lanes.
#[derive(Clone, Copy)]
pub(super) struct Lane<S: Simd> {
    simd: S,
    pub value: S::f32s,
}

impl<S: Simd> Lane<S> {
    #[inline(always)]
    pub fn new(simd: S, value: S::f32s) -> Self {
        Self { simd, value }
    }

    #[inline(always)]
    pub fn splat(simd: S, value: f32) -> Self {
        Self { simd, value: simd.splat_f32s(value) }
    }

    /// Returns a vector with `value` in all lanes.
    #[inline(always)]
    pub fn all(self, value: f32) -> Self {
        Self::splat(self.simd, value)
    }

    /// Returns `self * b + c`, rounded once.
    #[inline(always)]
    pub fn mul_add(self, b: Self, c: Self) -> Self {
        Self { value: self.simd.mul_add_f32s(self.value, b.value, c.value), ..self }
    }

    /// Returns `self * b - c * d`.
    #[inline(always)]
    pub fn cross(self, b: Self, c: Self, d: Self) -> Self {
        let rest = c * d;
        Self { value: self.simd.mul_add_f32s(self.value, b.value, self.simd.neg_f32s(rest.value)), ..self }
    }

    /// Returns `self / b`.
    #[inline(always)]
    pub fn over(self, b: Self) -> Self {
        Self { value: self.simd.div_f32s(self.value, b.value), ..self }
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self { value: self.simd.sqrt_f32s(self.value), ..self }
    }

    /// Returns the larger value, `b` if one of the two is no number. (`max_f32s` differs there between processors.)
    #[inline(always)]
    pub fn max(self, b: Self) -> Self {
        self.at_least(b, self, b)
    }

    /// Returns the smaller value, `self` if one of the two is no number.
    #[inline(always)]
    pub fn min(self, b: Self) -> Self {
        self.at_least(b, b, self)
    }

    /// Returns the smallest value of all lanes.
    #[inline(always)]
    pub fn least(self) -> f32 {
        self.simd.reduce_min_f32s(self.value)
    }

    /// Returns, per lane, `then` if `self` is at least `limit`, otherwise `or`.
    #[inline(always)]
    pub fn at_least(self, limit: Self, then: Self, or: Self) -> Self {
        let mask = self.simd.greater_than_or_equal_f32s(self.value, limit.value);
        Self { value: self.simd.select_f32s(mask, then.value, or.value), ..self }
    }
}

impl<S: Simd> Add for Lane<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { value: self.simd.add_f32s(self.value, b.value), ..self }
    }
}

impl<S: Simd> Sub for Lane<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { value: self.simd.sub_f32s(self.value, b.value), ..self }
    }
}

impl<S: Simd> Mul for Lane<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self { value: self.simd.mul_f32s(self.value, b.value), ..self }
    }
}
