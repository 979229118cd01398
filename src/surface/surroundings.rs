//! The displacement of a sculpt layer's passive vertices by a classical tool (thesis 2.2.2, 2.2.3 and 4.1.1).

use crate::deform::classic::Method;
use serde::{Deserialize, Serialize};

/// The displacement of a drawn layer's passive vertices, computed by a classical tool. Like the kinematic vertices, the
/// passive vertices then have offsets relative to their bones, so the layer is the same in every pose. A layer without
/// it moves its passive vertices like the nearest kinematic vertices, less with their distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surroundings {
    /// The tool that computed the offsets.
    pub method: Method,
    /// One offset per passive vertex at amplitude 1, in bind orientation, metres. Empty until the tool has run; the
    /// passive vertices then move as without a tool.
    pub offsets: Vec<[f32; 3]>,
}

impl Surroundings {
    /// Surroundings whose offsets are not computed yet.
    pub fn new(method: Method) -> Self {
        Self { method, offsets: Vec::new() }
    }
}
