//! The skin point that a hand touches, and its distance to the points of marks.

use super::point_of;
use crate::base::math::Vec3;
use crate::surface::SurfacePoint;
use crate::workbench::Rules;
use crate::workbench::tools::{EditContext, Moment};

/// Where a hand touches the character.
pub struct Touch {
    /// Tip of the hand, world space.
    pub tip: Vec3,
    /// The touched skin point in bind space, metres; `None` if the tip is not at the skin. Deformers other than linear
    /// blend skinning, and sculpt layers, do not change this point.
    pub skin: Option<Vec3>,
}

impl Touch {
    /// Returns the touch of the tool hand. The tip is at the skin within `reach`, world metres.
    pub fn of(context: &EditContext, moment: &Moment, reach: f32) -> Self {
        let hand = moment.hand();
        let tip = hand.tip.position;
        let near =
            hand.surface.filter(|s| moment.rules >= Rules::Eleventh && s.position.distance(tip) <= reach);
        let skin = near.and_then(|s| context.body.bind_position(&context.character, &point_of(&s)));
        Self { tip, skin }
    }

    /// Returns the distance to a point of the skin, metres. A tip that is not at the skin measures it to the point after
    /// linear blend skinning.
    pub fn distance(&self, context: &EditContext, point: &SurfacePoint) -> Option<f32> {
        match self.skin {
            Some(skin) => Some(context.body.bind_position(&context.character, point)?.distance(skin)),
            None => {
                let x = context.body.skinned_position(&context.character, &context.rig, point)?;
                Some(x.distance(self.tip))
            }
        }
    }
}
