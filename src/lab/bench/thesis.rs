//! Times published in the thesis. Its authors measured them on their own GPU with their own program.

/// A row of the thesis's Table 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ThesisRow {
    /// Name of the thesis's mesh.
    pub mesh: &'static str,
    /// Name of the generated mesh that replaces the thesis's mesh in Sinew's benchmark.
    pub stands_for: &'static str,
    /// Time of 1, 25, 50 and 100 iterations on the thesis's GPU, milliseconds.
    pub gpu_ms: [f64; 4],
    /// The thesis's largest number of iterations at 60 frames per second. The thesis estimates it: 10 ms divided by the
    /// time of one iteration, since 6 ms remain for drawing.
    pub largest: u32,
}

/// Deformation times of the thesis's Table 1, measured on the authors' GPU.
pub const THESIS_TABLE_1: [ThesisRow; 5] = [
    ThesisRow { mesh: "Box", stands_for: "box", gpu_ms: [0.01, 0.28, 0.54, 1.10], largest: 909 },
    ThesisRow { mesh: "Plus", stands_for: "plus", gpu_ms: [0.01, 0.34, 0.59, 1.27], largest: 787 },
    ThesisRow { mesh: "Human", stands_for: "human", gpu_ms: [0.02, 0.42, 0.84, 1.50], largest: 617 },
    ThesisRow { mesh: "Chibi", stands_for: "chibi", gpu_ms: [0.02, 0.53, 0.91, 1.78], largest: 524 },
    ThesisRow { mesh: "Armadillo", stands_for: "golem", gpu_ms: [0.03, 0.77, 1.59, 3.04], largest: 323 },
];
