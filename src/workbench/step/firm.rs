//! Commands that change the firm and soft regions of the skin.

use super::binding::{marked, reach_of};
use crate::base::{Error, Result};
use crate::bind::VertexRuns;
use crate::deform::blend::Painted;
use crate::deform::volume::FirmRegion;
use crate::deform::volume::firm::sane;
use crate::document::Edit;
use crate::surface::{Region, mirrored_mark};
use crate::workbench::{CommandKind, FirmChange, Rules, SkinPart, Workbench};
use std::collections::BTreeMap;

impl Workbench {
    /// Changes the document's firm and soft regions. With `continues`, the change joins the undo step of the previous
    /// change of a factor, unless something else was done since.
    pub(super) fn change_firm(&mut self, change: &FirmChange, continues: bool) {
        let edit = match *change {
            FirmChange::Add(part, factor) => self.firm_part(part, sane(factor)),
            FirmChange::Factor(id, factor) => Ok(Edit::SetFirm { id, factor: sane(factor) }),
            FirmChange::Remove(id) => Ok(Edit::RemoveFirm(id)),
        };
        // A slider that stays where it is makes no step; in takes of earlier versions, it makes one.
        let regions = self.context.session.document().firm();
        let same = |e: &Edit| matches!(e, Edit::SetFirm { id, factor } if regions.iter().any(|r| (r.id, r.factor) == (*id, *factor)));
        if self.navigation.rules() >= Rules::Twelfth && edit.as_ref().is_ok_and(same) {
            return;
        }
        match edit {
            Ok(edit) => {
                let slides = matches!(edit, Edit::SetFirm { .. });
                let now = |bench: &Self| Some((None, CommandKind::Firm, bench.context.session.history()));
                let continues = slides && continues && self.sliding == now(self);
                self.apply(edit, continues);
                self.sliding = if slides { now(self) } else { None };
            }
            Err(error) => {
                self.context.notice = Some((&error).into());
                self.limit();
            }
        }
    }

    /// Returns the edit that adds a region. With mirror, the region contains both sides of the body.
    fn firm_part(&self, part: SkinPart, factor: f32) -> Result<Edit> {
        let (document, character) = (self.context.session.document(), &self.context.character);
        let (name, region, mark) = match part {
            SkinPart::Mark { id, rings } => {
                let mark = marked(document, id)?;
                (&mark.name, Region::filled(character, mark, reach_of(rings))?, Some(mark))
            }
            SkinPart::Shape(id) => {
                let sculpt = document.sculpt(id)?;
                let mark = sculpt.mark.and_then(|id| marked(document, id).ok());
                (&sculpt.name, sculpt.region.clone(), mark)
            }
        };
        let mut weights: BTreeMap<u32, f32> = region.weights().into_iter().collect();
        let mirror = self.context.body.sides.as_ref().filter(|_| self.preferences.mirror);
        if let Some((mirror, mark)) = mirror.zip(mark) {
            let mark = mirrored_mark(character, mirror, mark)?;
            let other = match part {
                SkinPart::Mark { rings, .. } => Region::filled(character, &mark, reach_of(rings))?,
                SkinPart::Shape(_) => {
                    Region::from_mark(character, &mark, region.reach)?.softened(character, region.softness)?
                }
            };
            for (v, weight) in other.weights() {
                let own = weights.entry(v).or_default();
                *own = own.max(weight);
            }
        }
        let vertices = VertexRuns::of(weights.keys().copied());
        let even = weights.values().all(|w| *w == 1.0);
        let falloff = if even { Painted::NONE } else { Painted::new(weights.values().copied()) };
        let same = document.firm().iter().find(|r| (&r.vertices, &r.falloff) == (&vertices, &falloff));
        if let Some(same) = same {
            let remedy = "change its factor, or draw another mark";
            return Err(Error::input(format!("{} is this region already", same.name), remedy));
        }
        let region =
            FirmRegion { id: document.unused_firm_id(), name: name.clone(), factor, vertices, falloff };
        Ok(Edit::AddFirm { index: None, region: Box::new(region) })
    }
}
