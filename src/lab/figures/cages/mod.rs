//! Figures of *Real-time Deformation with Coupled Cages and Skeletons* (Corda et al. 2020), redrawn with generated
//! characters. Lines are the edges of cages: of the rest cage beside a rest pose, and of the current cage beside any
//! other pose. White dots are cage vertices that an edit has moved.
//!
//! **(differs)** A human replaces the paper's airplanes (figures 8 and 9). This set leaves out figures 1, 3, 4 and 11:
//! figures 3 and 4 are sketches of the method, and figures 1 and 11 show what figures 7 and 10 show.

mod bar;
mod caged;
mod limbs;
mod variants;

use super::{Figure, Set};

/// The figures of this paper.
pub const SET: Set = Set {
    name: "cages",
    paper: "Real-time Deformation with Coupled Cages and Skeletons",
    figures: &[
        Figure {
            name: "fig2-methods",
            title: "Figure 2: one edit of the rest cage, a thicker upper arm, under three skinning methods",
            draw: limbs::methods,
        },
        Figure {
            name: "fig5-bar",
            title: "Figure 5: a bar that its cage lengthens and a joint bends; its joints follow the cage or stay",
            draw: bar::bar,
        },
        Figure {
            name: "fig6-localisation",
            title: "Figure 6: the localisation functions of joints, from blue (lowest) to red (highest)",
            draw: limbs::localisations,
        },
        Figure {
            name: "fig7-scales",
            title: "Figure 7: a bent arm edited by a coarse, a medium and a fine cage",
            draw: limbs::scales,
        },
        Figure {
            name: "fig8-variants",
            title: "Figure 8: variants of one character by edits of its rest cage, and poses",
            draw: variants::variants,
        },
        Figure {
            name: "fig9-between",
            title: "Figure 9: frames between keyed variants: rest cages and poses are interpolated",
            draw: variants::between,
        },
        Figure {
            name: "fig10-punch",
            title: "Figure 10: a punch with three keys of the rest cage, timed apart from the pose keys",
            draw: variants::punch,
        },
    ],
};
