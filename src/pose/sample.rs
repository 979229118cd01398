//! Samples of a drawing device.

use crate::base::math::{DVec3, Vec3};

/// One reading of the drawing device.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sample {
    /// Device position, world space, metres.
    pub position: [f32; 3],
    /// World-from-device rotation (from the camera for a mouse), quaternion `(x, y, z, w)`; +Y is the device's up.
    pub orientation: [f32; 4],
    /// Pressure of the pen or trigger, 0..=1.
    pub pressure: f32,
    /// Time in seconds, on the clock of the recording.
    pub time: f64,
}

impl Default for Sample {
    fn default() -> Self {
        Self { position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0], pressure: 1.0, time: 0.0 }
    }
}

impl Sample {
    /// Returns a sample at a position, with the default orientation and pressure.
    pub fn at(position: Vec3, time: f64) -> Self {
        Self { position: position.into(), time, ..Self::default() }
    }

    /// Returns the position in f64.
    pub fn point(&self) -> DVec3 {
        Vec3::from(self.position).as_dvec3()
    }

    pub(super) fn is_finite(&self) -> bool {
        let floats = self.position.iter().chain(&self.orientation).chain([&self.pressure]);
        floats.into_iter().all(|v| v.is_finite()) && self.time.is_finite()
    }
}
