//! `sinew cage`: makes or imports a cage, reports how it fits, moves its vertices and writes a project or an `.obj` file.

use super::arguments::Side;
use super::play::opened;
use super::save::write;
use crate::app::context::{Context, folder_of, progress, say};
use crate::base::math::DVec3;
use crate::base::{Error, Progress, Result};
use crate::cage::{Cage, Coordinates, check, obj_text};
use crate::document::{CageMove, Edit, KeyEdit, KeyValue, Target};
use crate::export::write_atomically;
use crate::project::{Opened, Saving};
use crate::scene::{CageSource, Model};
use std::fmt::Write;
use std::path::PathBuf;

/// The cage, and the operations on it.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A character, a project or a journal
    pub file: PathBuf,
    /// Make a cage of about N vertices around the character
    #[arg(long, value_name = "N", conflicts_with = "import", value_parser = clap::value_parser!(u32).range(8..=500))]
    pub make: Option<u32>,
    /// Read the cage from a file: .obj, .glb or .gltf
    #[arg(long, value_name = "CAGE")]
    pub import: Option<PathBuf>,
    /// Name of the cage's node in the imported file; without --import, in the character's own file
    #[arg(long, value_name = "NAME", conflicts_with = "make")]
    pub node: Option<String>,
    /// Coordinates of the skin in the cage: mean-value (smooth) or local (never negative)
    #[arg(long, value_name = "KIND", default_value = "mean-value", value_parser = coordinates)]
    pub coordinates: Coordinates,
    /// Move a vertex of the rest cage by metres: 12=0.1,0,-0.02
    #[arg(long = "move", value_name = "VERTEX=X,Y,Z", allow_hyphen_values = true)]
    pub moves: Vec<String>,
    /// Time in seconds at which the moved cage gets a key. Without it, the moves change the cage's shape
    #[arg(long, value_name = "SECONDS")]
    pub key: Option<f64>,
    /// The project to write, a .glb
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// The .obj file to write with the rest cage
    #[arg(long, value_name = "CAGE.obj")]
    pub obj: Option<PathBuf>,
    /// Processor that evaluates
    #[arg(long, value_enum, default_value_t = Side::Gpu)]
    pub on: Side,
}

fn coordinates(text: &str) -> std::result::Result<Coordinates, String> {
    match text {
        "mean-value" => Ok(Coordinates::MeanValue),
        "local" => Ok(Coordinates::Local),
        _ => Err("give mean-value or local".into()),
    }
}

/// Sets the cage of a document, reports how it fits and writes the requested files.
///
/// # Errors
/// Any error of [`opened`], [`Model::new_cage`] and of writing; [`Error::Input`] for moves that do not fit the cage.
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    let Opened { model, mut session, .. } = opened(&args.file)?;
    let mut told = Vec::new();
    if let Some(source) = source(args) {
        let (made, seconds) = progress("cage", |done| {
            let work = Progress::default();
            let made = model.new_cage(&source, args.coordinates, &work).map_err(|e| model.named(e));
            done(1.0);
            made
        })?;
        say(format_args!("made in {:.2} s", seconds.as_secs_f64()));
        told = made.0.told;
        session.apply(Edit::SetCage(Some(Box::new(made.0.cage))))?;
    }
    let missing = || Error::input("the character has no cage", "give --make N or --import CAGE");
    let cage = session.document().cage().ok_or_else(missing)?;
    say(report(&model, cage)?.trim_end());
    told.iter().for_each(|line| say(format_args!("note: {line}")));
    if !args.moves.is_empty() {
        let moves = args.moves.iter().map(|text| moved(text, cage)).collect::<Result<Vec<_>>>()?;
        let edit = match args.key {
            None => Edit::MoveCage(moves),
            Some(time) => {
                let mut offsets = cage.offsets.clone();
                moves.iter().for_each(|m| offsets[m.vertex as usize] = m.offset);
                let target = Target::Cage(offsets.len() as u32);
                let value = offsets.into_iter().flatten().collect();
                Edit::Keys(KeyEdit::Insert { time, keys: vec![KeyValue { target, value }] })
            }
        };
        session.apply(edit)?;
    }
    let cage = session.document().cage().ok_or_else(missing)?;
    if let Some(path) = &args.obj {
        let positions: Vec<DVec3> = (cage.mesh.positions.iter().zip(&cage.offsets))
            .map(|(x, d)| *x + crate::base::math::Vec3::from(*d).as_dvec3())
            .collect();
        folder_of(path)?;
        write_atomically(path, obj_text(&cage.mesh, &positions).as_bytes())?;
        say(format_args!("wrote {}", path.display()));
    }
    if let Some(out) = &args.out {
        let saving = Saving { every_frame: true, ..Saving::default() };
        write(context, &model, session.document(), out, saving, args.on.is_cpu())?;
    }
    if args.obj.is_none() && args.out.is_none() && (args.make.is_some() || !args.moves.is_empty()) {
        say("nothing was written: --out writes a project, --obj the cage");
    }
    Ok(())
}

fn source(args: &Args) -> Option<CageSource> {
    match (&args.make, &args.import, &args.node) {
        (Some(vertices), ..) => Some(CageSource::Made(*vertices as usize)),
        (_, Some(path), node) => Some(CageSource::File(path.clone(), node.clone())),
        (_, None, Some(node)) => Some(CageSource::Node(node.clone())),
        _ => None,
    }
}

/// Describes how a cage fits its character.
fn report(model: &Model, cage: &Cage) -> Result<String> {
    let control = &model.bound.character.control;
    let found = check(&cage.mesh, &control.positions)?;
    let of = model.couple(cage, &Progress::default())?.report();
    let mut out = String::new();
    let lines = [
        format!("cage {:?}: {} vertices, {} faces", cage.name, found.vertices, found.faces),
        format!("clearance {:.4} of the diagonal, {} vertices outside", found.clearance, found.outside.len()),
        format!(
            "lowest coordinate {:.3}; {} of {} vertices have negative coordinates",
            of.lowest,
            of.negative,
            control.positions.len()
        ),
        format!(
            "coordinates reproduce the skin to {:.1e} and the joints to {:.1e} of the cage's diagonal",
            of.skin_precision, of.joint_precision
        ),
    ];
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    Ok(out)
}

/// Parses a move such as `12=0.1,0,-0.02`.
fn moved(text: &str, cage: &Cage) -> Result<CageMove> {
    let wrong = || {
        let remedy = format!("write VERTEX=X,Y,Z with a vertex from 0 to {}", cage.vertices() - 1);
        Error::input(format!("--move {text} is not understood"), remedy)
    };
    let (vertex, offset) = text.split_once('=').ok_or_else(wrong)?;
    let vertex: u32 =
        vertex.trim().parse().ok().filter(|v| (*v as usize) < cage.vertices()).ok_or_else(wrong)?;
    let numbers: Vec<f32> = offset.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let offset = <[f32; 3]>::try_from(numbers).map_err(|_| wrong())?;
    Ok(CageMove { vertex, offset })
}
