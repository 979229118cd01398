//! Writes documents to files that other programs can display: project files and exports.

use super::cage_shapes::{between_keys, cage_shapes};
use crate::asset::{Clip, Problem};
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::document::{Document, State};
use crate::export::{
    Clips, Export, Key, Options, Receipt, Shared, Surface, Surfaces, project, streamed, within_budget,
};
use crate::rig::Pose;
use crate::scene::{Evaluation, Evaluator, Model, Shaper};
use std::cell::RefCell;
use std::path::Path;

/// Options of saving a document as a project.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saving {
    /// Maximum vertex error of the exported shapes, millimetres; the shapes then share a few morph targets. `None`
    /// gives every shape its own morph target.
    pub budget_mm: Option<f64>,
    /// Whether to export at most 4 influences per vertex for other programs.
    pub compatible: bool,
    /// What to do with the file's own animations in the export. The stored original file keeps them.
    pub clips: Clips,
    /// Whether the receipt measures every frame instead of only the exported shapes.
    pub every_frame: bool,
}

/// Size limit of the cache of evaluated shapes, bytes; shapes beyond it are evaluated on every request.
const KEPT: usize = 256 << 20;

/// A document prepared for export: its animation, or else its pose. Shapes are evaluated on demand.
struct ShownDocument<'a> {
    /// All exported or measured times, increasing, with the document's state at each time.
    states: Vec<(f32, State)>,
    /// The pose of each state as files need it.
    poses: Vec<Pose>,
    /// Indices of the states that are exported as keys.
    keys: Vec<usize>,
    motion: Option<Clip>,
    /// Morph targets of the cage's keys, with the weights at each state.
    shared: Option<Shared>,
    shaper: RefCell<Shaper<'a>>,
    kept: RefCell<(Vec<Option<Evaluation>>, usize)>,
}

impl<'a> ShownDocument<'a> {
    /// Samples the document at the times to export and measure.
    fn new(
        model: &'a Model,
        document: &'a Document,
        name: &str,
        evaluator: &'a mut Evaluator,
        saving: Saving,
    ) -> Result<Self> {
        let skeleton = model.skeleton();
        let motion = document.clip(name, skeleton)?;
        let some = document.shape_times(true);
        let few = document.shape_times(false);
        // One exported shape makes no animation, so export the edited pose instead.
        let moves = motion.is_some() && some.len() > 1;
        let mut all = [&some[..], &few].concat();
        if saving.every_frame || saving.budget_mm.is_some() {
            all.extend(document.frame_times());
        }
        all.sort_by(f64::total_cmp);
        all.dedup_by(|b, a| *a as f32 == *b as f32);
        let times: Vec<Option<f64>> =
            if moves { all.iter().copied().map(Some).collect() } else { vec![None] };
        let state = |t: &Option<f64>| (t.map_or(0.0, |t| t as f32), document.state(skeleton, *t));
        let states: Vec<(f32, State)> = times.iter().map(state).collect();
        let poses = states.iter().map(|(_, state)| state.pose.flattened(skeleton)).collect();
        let mut shaper = Shaper::new(model, document, evaluator);
        let shared = cage_shapes(document, skeleton, &states, &mut shaper)?;
        let among = |times: &[f64]| -> Vec<usize> {
            let is_key = |i: &usize| times.iter().any(|t| *t as f32 == all[*i] as f32);
            (0..all.len()).filter(|i| saving.budget_mm.is_some() || is_key(i)).collect()
        };
        let few = among(&few);
        // The shapes of the cage's keys give the frames between them if their weights are linear in time.
        let keys =
            if shared.as_ref().is_some_and(|s| between_keys(s, &all, &few)) { few } else { among(&some) };
        Ok(Self {
            shared,
            keys: if moves { keys } else { vec![0] },
            motion: motion.filter(|_| moves),
            kept: RefCell::new((vec![None; states.len()], 0)),
            states,
            poses,
            shaper: RefCell::new(shaper),
        })
    }

    fn key(&self, i: usize) -> Key<'_> {
        Key { time_s: self.states[i].0, pose: &self.poses[i], shape: None }
    }

    fn keys(&self) -> Vec<Key<'_>> {
        self.keys.iter().map(|&i| self.key(i)).collect()
    }

    /// Writes an export of the keys within the budget and measures its error at every time.
    fn write(
        &mut self,
        path: &Path,
        mut options: Options,
        budget_mm: Option<f64>,
        made: impl Fn(&[Key], &dyn Surfaces, &Options) -> Result<Export>,
    ) -> Result<Receipt> {
        if budget_mm.is_some_and(|b| !(b.is_finite() && b > 0.0)) {
            return Err(Error::input(
                "the error budget is not above 0",
                "give millimetres, e.g. --budget-mm 0.1",
            ));
        }
        options.motion = self.motion.take();
        options.shared = self.shared.take().map(|shared| {
            let weights = self.keys.iter().map(|&k| shared.weights[k].clone()).collect();
            Shared { weights, ..shared }
        });
        let (keys, all) = (self.keys(), (0..self.states.len()).map(|i| self.key(i)).collect::<Vec<_>>());
        // The export has no surface before its first key, so measure from that state on.
        let from = self.keys[0];
        let measured = |options: &Options| {
            let export = made(&keys, &Keys(self), options)?;
            let receipt = export.measure(path, &all[from..], &After(self, from))?;
            Ok((export, receipt))
        };
        let (export, mut receipt) = within_budget(&mut options, budget_mm, measured)?;
        let worst = receipt.largest_mm();
        if budget_mm.is_some_and(|b| worst > b) {
            let what = format!("{worst:.4} mm is the least that was reached");
            return Err(Error::broken(path, "error budget", what, "give a larger budget, or none"));
        }
        if keys.len() < all.len() {
            let text = format!(
                "the file has those of {} of {} frames and goes straight between them; an error bound (--budget-mm X, or Exported shapes in the panel Clips) fits all frames",
                keys.len(),
                all.len()
            );
            receipt.problems.push(Problem { at: "shapes".into(), text });
        }
        export.put(path)?;
        Ok(receipt)
    }
}

/// The surfaces of all states.
impl Surfaces for ShownDocument<'_> {
    fn at(&self, i: usize) -> Result<Option<Surface<'_>>> {
        let surface = |e: Evaluation| Surface { positions: e.positions.into(), normals: e.normals.into() };
        if let Some(known) = &self.kept.borrow().0[i] {
            return Ok(Some(surface(known.clone())));
        }
        let made = self.shaper.borrow_mut().evaluate(&self.states[i].1)?;
        let (kept, bytes) = &mut *self.kept.borrow_mut();
        *bytes += (made.positions.len() + made.normals.len() + made.control.len()) * size_of::<Vec3>();
        if *bytes <= KEPT {
            kept[i] = Some(made.clone());
        }
        Ok(Some(surface(made)))
    }
}

/// The surfaces of the exported keys.
struct Keys<'s, 'a>(&'s ShownDocument<'a>);

impl Surfaces for Keys<'_, '_> {
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>> {
        self.0.at(self.0.keys[key])
    }
}

/// The surfaces from a given state on.
struct After<'s, 'a>(&'s ShownDocument<'a>, usize);

impl Surfaces for After<'_, '_> {
    fn at(&self, i: usize) -> Result<Option<Surface<'_>>> {
        self.0.at(self.1 + i)
    }
}

/// Exports a document as a `.glb` for other programs; the receipt covers every frame.
///
/// # Errors
/// Same as [`streamed`] and [`Export::put`].
pub fn export(
    path: &Path,
    model: &Model,
    document: &Document,
    evaluator: &mut Evaluator,
    options: &Options,
) -> Result<Receipt> {
    let Options { budget_mm, compatible, clips, .. } = *options;
    let saving = Saving { budget_mm, compatible, clips, every_frame: true };
    let mut shown = ShownDocument::new(model, document, &options.clip_name, evaluator, saving)?;
    shown.write(path, options.clone(), options.budget_mm, |keys, surfaces, options| {
        streamed(&model.asset, &model.bound.character, keys, surfaces, options)
    })
}

/// Saves a document as a project file that any glTF viewer can display. The receipt gives the distance between what
/// viewers display and the editor's surface.
///
/// # Errors
/// Same as [`project::save_shown`]; the file at `path` stays unchanged.
pub fn save(path: &Path, model: &Model, document: &Document, evaluator: &mut Evaluator) -> Result<Receipt> {
    save_as(path, model, document, evaluator, Saving::default())
}

/// Saves a document like [`save`], with the given options.
///
/// # Errors
/// Same as [`save`], or the error budget cannot be met.
pub fn save_as(
    path: &Path,
    model: &Model,
    document: &Document,
    evaluator: &mut Evaluator,
    saving: Saving,
) -> Result<Receipt> {
    let json = serde_json::to_value(document).map_err(|e| {
        Error::input(format!("the document cannot be written: {e}"), "report it as a bug; keep the journal")
    })?;
    let mut shown = ShownDocument::new(model, document, document.name(), evaluator, saving)?;
    let clip_name = document.name().to_owned();
    let options =
        Options { clip_name, compatible: saving.compatible, clips: saving.clips, ..Options::default() };
    shown.write(path, options, saving.budget_mm, |keys, surfaces, options| {
        project::shown(&model.asset, &model.bound.character, keys, surfaces, options, &json)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{Asset, Influences, Interpolation, Property};
    use crate::base::math::Quat;
    use crate::bind::BindOptions;
    use crate::bind::shapes::Shape;
    use crate::document::{Channel, DeformerSettings, Edit, KeyEdit, Session, Slot, Target};
    use crate::export::unedited;
    use crate::scene::{Where, recipe};
    use std::time::Duration;

    /// Returns a bent capsule with the given deformation method; with `five`, five joints influence each vertex.
    fn capsule(method: &str, five: bool) -> (Session<'static>, Model) {
        let shape = Shape { bones: 6, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.5 };
        let mut asset = shape.capsule_asset();
        let primitives = asset.meshes.iter_mut().flat_map(|m| &mut m.primitives);
        for primitive in primitives.filter(|_| five) {
            let mut influences = Influences::default();
            for x in &primitive.positions {
                let first = ((x.y * 3.0) as u16).min(1);
                influences.push((0..5).map(|i| (first + i, [0.4, 0.2, 0.15, 0.15, 0.1][usize::from(i)])));
            }
            primitive.influences = influences;
        }
        let asset = Asset::from_slice(&unedited(&asset).unwrap(), "capsule.glb").unwrap();
        let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
        let mut session = model.start(None).unwrap();
        let settings = DeformerSettings::of(method);
        session.apply(Edit::SetDeformer(settings)).unwrap();
        let channel = Channel {
            target: Target::node(model.skeleton().joints[3].node, Property::Rotation),
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0, 2.0],
            values: [0.0, 1.6, -0.8].map(|a| Quat::from_rotation_x(a).to_array()).concat(),
        };
        let slot = Slot { target: channel.target.clone(), channel: Some(channel) };
        session.apply(Edit::Keys(KeyEdit::Channels(vec![slot]))).unwrap();
        (session, model)
    }

    fn saved(session: &Session, model: &Model, saving: Saving, out: &Path) -> Result<Receipt> {
        let document = session.document();
        let recipe = recipe(document.deformer()).unwrap();
        let mut evaluator = Evaluator::new(&Where::Cpu, model, &recipe).unwrap();
        save_as(out, model, document, &mut evaluator, saving)
    }

    #[test]
    fn a_saved_motion_is_measured_at_every_frame_and_fits_a_budget() {
        let (session, model) = capsule("springs", false);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("p.glb");
        let every = Saving { every_frame: true, ..Saving::default() };
        let keyed = saved(&session, &model, every, &out).unwrap();
        assert!(keyed.keys.len() == 49 && keyed.targets <= 3, "{keyed}");
        assert!(keyed.largest_mm() > 1.0, "{keyed}");
        let told = keyed.to_string();
        assert!(told.contains("at 49 times from 0.000 to 2.000 s: distance largest"), "{told}");
        assert!(told.contains("those of 3 of 49 frames"), "{told}");
        // By default, the receipt covers only the exported shapes.
        assert_eq!(saved(&session, &model, Saving::default(), &out).unwrap().keys.len(), 3);

        let within = |mm| Saving { budget_mm: Some(mm), ..every };
        let fitted = saved(&session, &model, within(0.5), &out).unwrap();
        assert!(fitted.keys.len() == 49 && fitted.largest_mm() <= 0.5, "{fitted}");
        assert!(fitted.targets < 25 && fitted.problems.is_empty(), "{fitted}");
        let again = Model::load(&out, &BindOptions::default()).unwrap();
        assert_eq!(again.document.as_ref().unwrap().hash(), session.document().hash());
        assert_eq!(again.file().hash, model.file().hash);
        // A failed save leaves the file unchanged.
        let before = std::fs::read(&out).unwrap();
        let error = saved(&session, &model, within(1e-7), &out).unwrap_err().to_string();
        assert!(error.contains("error budget") && std::fs::read(&out).unwrap() == before, "{error}");
        assert!(saved(&session, &model, within(-1.0), &out).is_err());
    }

    #[test]
    fn more_than_four_influences_are_told_and_limited_where_that_is_wanted() {
        let (session, model) = capsule("lbs", true);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("p.glb");
        let vertices = model.bound.character.display.positions.len();
        let full = saved(&session, &model, Saving::default(), &out).unwrap();
        let told = full.to_string();
        assert!(told.contains(&format!("influences: {vertices} vertices have more than 4")), "{told}");
        assert!(told.contains("--compatible") && full.reduction.is_none(), "{told}");
        let four = Saving {
            compatible: true,
            budget_mm: Some(0.5),
            ..Saving { every_frame: true, ..Saving::default() }
        };
        let limited = saved(&session, &model, four, &out).unwrap();
        let reduction = limited.reduction.unwrap();
        assert!(reduction.vertices == vertices && reduction.largest_mm > 10.0, "{limited}");
        assert!(limited.largest_mm() <= 0.5 && limited.targets > 0, "targets make up for it: {limited}");
        let shown = Asset::load(&out).unwrap();
        let primitives = || shown.meshes.iter().flat_map(|m| &m.primitives);
        assert!(primitives().all(|p| (0..vertices).all(|v| p.influences.of(v).len() == 4)));
        // The stored original keeps all animations.
        let again = Model::load(&out, &BindOptions::default()).unwrap();
        assert_eq!(again.file().hash, model.file().hash);
        assert!(unedited(&again.asset).unwrap() == unedited(&model.asset).unwrap());
    }
}
