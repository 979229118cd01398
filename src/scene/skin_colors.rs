//! Colours on the skin: weights and strain.

use crate::base::math::Vec3;
use crate::base::{JointId, NodeId};
use crate::bind::Character;
use crate::deform::blend::Factor;
use crate::deform::swing_twist::SwingTwistBinding;
use crate::deform::volume::Firm;
use crate::deform::volume::firm::FACTORS;
use serde::{Deserialize, Serialize};

/// Step in hue between successive joints: the golden ratio, so that neighbouring joints differ in colour.
const APART: f32 = 0.618_034;
/// Opacity of the colours over the skin's own colour.
const OPACITY: u32 = (255.0 * crate::deform::surface::OPACITY) as u32;

/// What the colours on the skin show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkinColors {
    /// The skin has its own colours.
    #[default]
    Off,
    /// Skin weights.
    #[serde(alias = "skin")]
    Weights,
    /// Swing weights of the method `swing-twist`.
    Swing,
    /// Twist weights of the method `swing-twist`.
    Twist,
    /// Strain: per vertex, the largest relative change of the length of its edges.
    Strain,
    /// Factors of the method `blend`, from blue (LBS) to red (DQS).
    Blend,
    /// Firm and soft regions: blue is soft, grey has the factor 1, red is firm.
    Firmness,
}

impl SkinColors {
    /// All views, in the order of the interface.
    pub const ALL: [Self; 7] =
        [Self::Off, Self::Weights, Self::Swing, Self::Twist, Self::Strain, Self::Blend, Self::Firmness];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Off", "Weights", "Swing", "Twist", "Strain", "Blend", "Firmness"][self as usize]
    }

    /// What the colours mean, for the user interface.
    pub fn legend(self) -> &'static str {
        match self {
            Self::Off => "the skin's own colours",
            Self::Weights => "of the selected joint, blue (0) to red (1); without one, a colour per joint",
            Self::Swing | Self::Twist => "of the selected joint, blue (0) to red (1)",
            Self::Strain => "edges changed by: grey 0 %, yellow 40 %, red 80 %",
            Self::Blend => "blue is LBS, red is DQS",
            Self::Firmness => "blue is soft, red is firm",
        }
    }

    /// Returns the next view. After the last view, the first one follows.
    pub fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }
}

/// Colour of a hue: 0 red, 1/3 green, 2/3 blue.
pub fn hue(h: f32) -> [u8; 4] {
    let part = |shift: f32| ((((h + shift).rem_euclid(1.0) * 6.0) - 3.0).abs() - 1.0).clamp(0.0, 1.0);
    let byte = |v: f32| (60.0 + 195.0 * v) as u8;
    [byte(part(0.0)), byte(part(2.0 / 3.0)), byte(part(1.0 / 3.0)), 255]
}

/// Colour of a weight, from blue (0) to red (1), as in other software.
pub fn color_of_weight(weight: f32) -> [u8; 4] {
    hue(2.0 / 3.0 * (1.0 - weight.clamp(0.0, 1.0)))
}

/// Colour of the binary logarithm of a factor on the stiffness: blue for the softest, grey for 0, red for the firmest.
pub fn color_of_firmness(log2: f32) -> [u8; 4] {
    const GREY: [u8; 4] = [150, 150, 150, 255];
    let share = (log2.abs() / FACTORS[1].log2()).min(1.0);
    let end = color_of_weight(if log2 > 0.0 { 1.0 } else { 0.0 });
    std::array::from_fn(|k| {
        let (from, to) = (f32::from(GREY[k]), f32::from(end[k]));
        (from + (to - from) * share).round() as u8
    })
}

/// Colour of a bone or joint among others, sRGB.
pub fn color_of_index(index: usize) -> [u8; 4] {
    hue(index as f32 * APART)
}

/// Computes the colour of every control vertex for [`crate::render::Scene::paint`]: linear RGBA8, red in the lowest
/// bits. If a joint is selected, the colour shows the weight of this joint; otherwise the colour is the mean of the
/// colours of all joints, weighted by their weights. `binding` has the swing and twist weights; without `binding`, the
/// views of these weights show nothing. The GPU computes strain, so the view of the strain shows nothing here. `blend`
/// has the factors of the method `blend`; without `blend`, the view of these factors shows nothing. `firm` has the firm
/// and soft regions. Reuses the memory of `out`.
pub fn paint(
    character: &Character,
    binding: Option<&SwingTwistBinding>,
    blend: Option<&Factor>,
    firm: &Firm,
    (view, selected): (SkinColors, Option<NodeId>),
    out: &mut Vec<u32>,
) {
    let control = &character.control;
    out.clear();
    out.resize(control.positions.len(), 0);
    let joint = selected.and_then(|n| character.skeleton.nodes.get(n.index())?.joint);
    let skin = |v: usize| {
        let of = control.influences.of(v);
        match joint {
            Some(joint) => {
                let own = of.filter(|(j, _)| usize::from(*j) == joint.index());
                linear(color_of_weight(own.map(|(_, w)| w).sum()))
            }
            None => of.map(|(j, w)| linear(color_of_index(j.into())) * w).sum(),
        }
    };
    match (view, binding) {
        (SkinColors::Off | SkinColors::Strain, _) => {}
        (SkinColors::Blend, _) => {
            let fits = |f: &&Factor| f.check(control.positions.len()).is_ok();
            if let Some(factor) = blend.filter(fits) {
                let color = |v| packed(linear(color_of_weight(factor.of(v))));
                out.iter_mut().enumerate().for_each(|(v, c)| *c = color(v));
            }
        }
        (SkinColors::Firmness, _) => {
            let mut field = Vec::new();
            firm.field(out.len(), &mut field);
            let color = |log2: &f32| packed(linear(color_of_firmness(*log2)));
            out.iter_mut().zip(&field).for_each(|(c, log2)| *c = color(log2));
        }
        (SkinColors::Weights, _) => out.iter_mut().enumerate().for_each(|(v, c)| *c = packed(skin(v))),
        (SkinColors::Swing | SkinColors::Twist, Some(binding)) => {
            let twist = view == SkinColors::Twist;
            let place = joint.and_then(|j| binding.joints.iter().position(|f| f.joint == j));
            for (v, color) in out.iter_mut().enumerate().take(binding.base.len()) {
                *color = packed(match place {
                    Some(j) => linear(color_of_weight(weight(binding, v, j, twist))),
                    // Without a selection, the joint that moves the vertex rigidly gives the colour, and joints that move
                    // it in part tint it.
                    None => mixed(binding, v, twist),
                });
            }
        }
        (SkinColors::Swing | SkinColors::Twist, None) => {}
    }
}

/// Swing or twist weight of a joint of the binding at a vertex: that of its entry, 1 for the base and its ancestors, else 0.
fn weight(binding: &SwingTwistBinding, vertex: usize, joint: usize, twist: bool) -> f32 {
    let entry = binding.of(vertex).iter().find(|e| e.joint as usize == joint);
    if let Some(entry) = entry {
        return if twist { entry.twist } else { entry.swing };
    }
    let base = binding.joints.iter().position(|f| f.joint == JointId(binding.base[vertex]));
    let mut above = std::iter::successors(base, |&j| binding.joints[j].parent);
    if above.any(|j| j == joint) { 1.0 } else { 0.0 }
}

fn mixed(binding: &SwingTwistBinding, vertex: usize, twist: bool) -> Vec3 {
    let base = binding.base[vertex];
    let mut color = if base == SwingTwistBinding::NONE {
        Vec3::splat(0.2)
    } else {
        linear(color_of_index(base as usize))
    };
    // Descendants come before their ancestors.
    for entry in binding.of(vertex).iter().rev() {
        let own = linear(color_of_index(binding.joints[entry.joint as usize].joint.index()));
        color = color.lerp(own, if twist { entry.twist } else { entry.swing });
    }
    color
}

/// Converts an sRGB colour to linear light, 0..=1.
fn linear(color: [u8; 4]) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|k| (f32::from(color[k]) / 255.0).powf(2.2)))
}

fn packed(color: Vec3) -> u32 {
    let byte = |v: f32| (v.clamp(0.0, 1.0) * 255.0).round() as u32;
    byte(color.x) | byte(color.y) << 8 | byte(color.z) << 16 | OPACITY << 24
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::FirmId;
    use crate::bind::shapes::capsule;
    use crate::bind::{BindOptions, VertexRuns, bind_attachments};
    use crate::deform::Bound;
    use crate::deform::blend::Painted;
    use crate::deform::swing_twist::{Params, bind};
    use crate::deform::volume::FirmRegion;

    #[test]
    fn weights_go_from_blue_over_green_to_red() {
        assert_eq!(color_of_weight(0.0), [60, 60, 255, 255]);
        assert_eq!(color_of_weight(0.5), [60, 255, 60, 255]);
        assert_eq!(color_of_weight(1.0), [255, 60, 60, 255]);
        assert_eq!(color_of_weight(f32::INFINITY), color_of_weight(1.0));
    }

    #[test]
    fn the_skin_shows_the_weight_of_the_selected_joint() {
        let character = capsule(3, 24, 12, 0.15, 3.0);
        let node = character.skeleton.joints[1].node;
        let mut colors = Vec::new();
        paint(&character, None, None, &Firm::default(), (SkinColors::Weights, Some(node)), &mut colors);
        let at = |y: f32| {
            let near = |v: &usize| (character.control.positions[*v].y - y).abs();
            (0..character.control.positions.len()).min_by(|a, b| near(a).total_cmp(&near(b))).unwrap()
        };
        let (low, middle) = (colors[at(0.3)], colors[at(1.5)]);
        assert_eq!(low, packed(linear(color_of_weight(0.0))));
        assert_eq!(middle, packed(linear(color_of_weight(1.0))));
        paint(&character, None, None, &Firm::default(), (SkinColors::Weights, None), &mut colors);
        assert_eq!(colors[at(1.5)], packed(linear(color_of_index(1))));
        let half = Factor::Global(0.5);
        paint(&character, None, Some(&half), &Firm::default(), (SkinColors::Blend, None), &mut colors);
        assert!(colors.iter().all(|c| *c == colors[0] && *c != 0));
        paint(
            &character,
            None,
            Some(&Factor::PerVertex([0.5].into())),
            &Firm::default(),
            (SkinColors::Blend, None),
            &mut colors,
        );
        assert!(colors.iter().all(|c| *c == 0), "factors of another character");
        for view in [SkinColors::Off, SkinColors::Swing, SkinColors::Strain, SkinColors::Blend] {
            paint(&character, None, None, &Firm::default(), (view, Some(node)), &mut colors);
            assert!(colors.iter().all(|c| *c == 0), "{view:?}");
        }
        let vertices = VertexRuns::of([0, 1]);
        let region = |factor| FirmRegion {
            id: FirmId(0),
            name: String::new(),
            factor,
            vertices: vertices.clone(),
            falloff: Painted::NONE,
        };
        for (factor, wanted) in [(16.0, 1.0), (1.0 / 16.0, 0.0)] {
            let firm = Firm::new(vec![region(factor)]);
            paint(&character, None, None, &firm, (SkinColors::Firmness, Some(node)), &mut colors);
            let grey = packed(linear([150, 150, 150, 255]));
            assert_eq!((colors[1], colors[2]), (packed(linear(color_of_weight(wanted))), grey));
        }
        let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
        let bound = Bound::new(character.clone().into(), attachments.into());
        let binding = bind(&bound, &Params { cubes: 700, ..Params::DEFAULT }).unwrap();
        paint(
            &character,
            Some(&binding),
            None,
            &Firm::default(),
            (SkinColors::Twist, Some(node)),
            &mut colors,
        );
        assert_eq!(colors[at(0.3)], packed(linear(color_of_weight(0.0))));
        // Everything above the joint follows its whole twist.
        assert_eq!(colors[at(2.8)], packed(linear(color_of_weight(1.0))));
    }
}
