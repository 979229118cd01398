//! What a drawing device says at one time.

use crate::base::math::{DVec3, Vec3};

/// One reading of the drawing device.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sample {
    /// World, metres.
    pub position: [f32; 3],
    /// World from device (or from the camera, for a mouse), quaternion `(x, y, z, w)`; +Y is the device's up.
    pub orientation: [f32; 4],
    /// Pressure or trigger, 0..=1.
    pub pressure: f32,
    /// Seconds, on the clock of the recording.
    pub time: f64,
}

impl Default for Sample {
    fn default() -> Self {
        Self { position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0], pressure: 1.0, time: 0.0 }
    }
}

impl Sample {
    /// At a place, with the default orientation.
    pub fn at(position: Vec3, time: f64) -> Self {
        Self { position: position.into(), time, ..Self::default() }
    }

    /// The position in f64.
    pub fn point(&self) -> DVec3 {
        Vec3::from(self.position).as_dvec3()
    }

    pub(super) fn is_finite(&self) -> bool {
        let floats = self.position.iter().chain(&self.orientation).chain([&self.pressure]);
        floats.into_iter().all(|v| v.is_finite()) && self.time.is_finite()
    }
}
