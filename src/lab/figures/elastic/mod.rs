//! Figures of *Elasticity-Inspired Deformers for Character Articulation* (Kavan, Sorkine 2012), redrawn with generated
//! characters.
//!
//! The number under a name is the elastic energy of the flesh (equation 1 of the paper), divided by the smallest energy
//! in that pose. *Elastic weights* minimise that energy. In a figure, all weights are computed in the same cubes. The
//! *elastic solution* is the shape with the smallest energy, with the same nodes held by bones as for the weights.
//!
//! **(differs)** The paper optimises weights for dual quaternions by a nonlinear solver. Here dual quaternions use the
//! weights that are optimal for linear skinning. In figure 13 the paper fits weights by non-negative least squares. Here
//! the two weights of a node sum to one, so the fit has a closed form. This set leaves out three figures: 2 and 4 are
//! sketches of the method, and 10 repeats the bulge of figure 5.

mod cubes;
mod cylinder;
mod joint;
mod plot;
mod poses;
mod solve;
mod stand;
mod weights;

use super::{Figure, Set};

/// The set of that paper's figures.
pub const SET: Set = Set {
    name: "elastic",
    paper: "Elasticity-Inspired Deformers for Character Articulation",
    figures: &[
        Figure {
            name: "fig1-teaser",
            title: "Figure 1: a creature in one pose; numbers are elastic energies over the smallest",
            draw: poses::teaser,
        },
        Figure {
            name: "fig3-cylinder",
            title: "Figure 3: a cylinder bent and twisted by 90°, with biharmonic and with elastic weights",
            draw: cylinder::cylinder,
        },
        Figure {
            name: "fig5-hip",
            title: "Figure 5: swing-twist deformers with biharmonic and with elastic weights",
            draw: poses::hip,
        },
        Figure {
            name: "fig6-candy-wrapper",
            title: "Figure 6: a twisted arm becomes thin with linear skinning",
            draw: poses::candy_wrapper,
        },
        Figure {
            name: "fig7-bulging",
            title: "Figure 7: a bent elbow and a bent knee bulge with dual quaternions",
            draw: poses::bulging,
        },
        Figure {
            name: "fig8-shoulder",
            title: "Figure 8: the weights of a shoulder, from blue (0) to red (1), and a large rotation",
            draw: weights::shoulder,
        },
        Figure {
            name: "fig9-heel",
            title: "Figure 9: the weights of an ankle, from blue (0) to red (1), and a bent foot",
            draw: weights::heel,
        },
        Figure {
            name: "fig11-samples",
            title: "Figure 11: the swing weight of a hip by 4 and by 32 sample rotations",
            draw: solve::samples,
        },
        Figure {
            name: "fig12-convergence",
            title: "Figure 12: relative error of the energy over iterations: positions red, weights blue",
            draw: solve::convergence,
        },
        Figure {
            name: "fig13-fit",
            title: "Figure 13: weights fitted to solved shapes, and weights that minimise the energy",
            draw: solve::fit,
        },
    ],
};

/// Approximate number of cubes in which weights are computed.
const CUBES: usize = 8000;
