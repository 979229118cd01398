//! `sinew save`: writes a journal, a project or a character as a project file.

use super::arguments::{Side, keeps_input};
use super::play::opened;
use super::pose::clip_of;
use crate::app::context::{Context, folder_of, say, stage};
use crate::base::{Error, Result, counted};
use crate::document::{ClipLayer, Document, Edit, KeyEdit};
use crate::export::Clips;
use crate::export::is_model;
use crate::project;
use crate::project::{Opened, Saving};
use crate::rig::Skeleton;
use crate::scene::{Evaluator, Model};
use std::path::Path;
use std::path::PathBuf;

/// What to save, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A journal, a project or a character
    #[arg(value_name = "JOURNAL|FILE")]
    pub input: PathBuf,
    /// The project to write, a .glb
    #[arg(long)]
    pub out: PathBuf,
    /// Play a clip of the file, by name or number, below the strokes and above the clips of earlier options:
    /// Walk,speed=1.5,start=0.5,weight=0.7,loop
    #[arg(long, value_name = "NAME,...")]
    pub clip: Vec<String>,
    /// Whether viewers see the file's own animations; the embedded original keeps them
    #[arg(long, value_enum, default_value_t)]
    pub clips: Clips,
    /// Let all frames share few morph targets, with at most this error per vertex, millimetres; by default every shape has
    /// its own target, at most 240
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub budget_mm: Option<f64>,
    /// Write at most 4 influences per vertex for other programs; the embedded original keeps all
    #[arg(long)]
    pub compatible: bool,
    /// Processor that evaluates
    #[arg(long, value_enum, default_value_t = Side::Gpu)]
    pub on: Side,
}

/// Saves the input's document. The clip layers of `--clip` are added above the document's own clip layers.
///
/// # Errors
/// Any error from opening, evaluating or writing; [`Error::Input`] for an unknown clip or invalid clip settings.
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    let Args { input, out, clip: layers, clips, budget_mm, compatible, on } = args;
    let saving = Saving { budget_mm: *budget_mm, compatible: *compatible, clips: *clips, every_frame: true };
    ending(out)?;
    let Opened { model, mut session, .. } = opened(input)?;
    // A project may replace itself: it contains its original.
    if model.document.is_none() {
        keeps_input(input, out)?;
    }
    if !layers.is_empty() {
        let mut all = session.document().motion().clips().to_vec();
        for text in layers {
            all.push(layer(text, model.skeleton())?);
        }
        session.apply(Edit::Keys(KeyEdit::Clips(all)))?;
    }
    write(context, &model, session.document(), out, saving, on.is_cpu())
}

/// Parses a clip layer: a name or number, then optional settings, e.g. `Walk,speed=1.5,start=0.5,weight=0.7,loop`.
fn layer(text: &str, skeleton: &Skeleton) -> Result<ClipLayer> {
    let mut words = text.split(',');
    let clip = clip_of(&skeleton.clips, words.next().unwrap_or_default().trim())?;
    let mut out = ClipLayer::new(clip, skeleton);
    for word in words.map(str::trim) {
        let wrong = || {
            let remedy =
                "write speed=NUMBER, start=SECONDS, weight=0..1 or loop; a speed below 0 plays backwards";
            Error::input(format!("--clip {text}: {word:?} is not understood"), remedy)
        };
        if word == "loop" {
            out.looped = true;
            continue;
        }
        let (name, value) = word.split_once('=').ok_or_else(wrong)?;
        let value: f64 = value.parse().map_err(|_| wrong())?;
        match name {
            "speed" => out.speed = value,
            "start" => out.offset = value,
            "weight" => out.weight = value as f32,
            _ => return Err(wrong()),
        }
    }
    Ok(out)
}

/// Rejects a file name without the extension of a model, so that viewers can open the project.
pub(super) fn ending(out: &Path) -> Result<()> {
    if is_model(out) {
        return Ok(());
    }
    Err(Error::input(
        format!("{}: unknown kind of file", out.display()),
        "end the name of the project in .glb, .gltf or .vrm",
    ))
}

/// Writes a document as a project file; prints the receipt and the numbers of strokes and keys.
pub(super) fn write(
    context: &mut Context,
    model: &Model,
    document: &Document,
    out: &Path,
    saving: Saving,
    cpu: bool,
) -> Result<()> {
    let side = context.side(cpu)?;
    folder_of(out)?;
    let (receipt, _) = stage("save", || {
        let mut evaluator = Evaluator::new(&side, model, &document.recipe()?)?;
        project::save_as(out, model, document, &mut evaluator, saving)
    })?;
    say(receipt.to_string().trim_end());
    let (strokes, keys) = (document.strokes().len(), document.motion().key_times().len());
    let drawn = format!("{}, {}", counted(strokes, "stroke"), counted(keys, "key time"));
    say(format_args!("  {drawn}; document {}", document.hash()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{Channel, Clip, Interpolation, Property};
    use crate::base::NodeId;

    #[test]
    fn a_layer_is_read_and_what_is_wrong_with_it_is_told() {
        let mut skeleton = crate::bind::shapes::capsule(4, 12, 8, 0.1, 1.0).skeleton;
        let (property, interpolation) = (Property::Translation, Interpolation::Linear);
        let (times, values) = (vec![0.0, 2.0], vec![0.0; 6]);
        let channel = Channel { node: NodeId::from(0), property, interpolation, times, values };
        skeleton.clips = [Clip { name: "Walk".into(), channels: vec![channel] }].into();
        let plain = layer("Walk", &skeleton).unwrap();
        assert_eq!((plain.clone(), plain.range), (ClipLayer::new(0, &skeleton), [0.0, 2.0]));
        let all = layer("0, speed=-1.5, start=0.5, weight=0.25, loop", &skeleton).unwrap();
        let wanted = ClipLayer { speed: -1.5, offset: 0.5, weight: 0.25, looped: true, ..plain };
        assert_eq!(all, wanted);
        for (text, told) in [
            ("Run", "choose one of Walk"),
            ("7", "choose one of Walk"),
            ("Walk,speed", "is not understood"),
            ("Walk,speed=fast", "is not understood"),
            ("Walk,loop=2", "is not understood"),
            ("Walk,colour=2", "speed=NUMBER"),
        ] {
            let error = layer(text, &skeleton).map_or_else(|e| e.to_string(), |l| panic!("{text}: {l:?}"));
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
