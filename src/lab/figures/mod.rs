//! `sinew-lab figures`: redraws the papers' figures with Sinew's own characters, one picture file per figure.
//!
//! A set of figures is a module with a table of [`Figure`]s; [`SETS`] lists all sets.

mod cages;
mod easel;
mod elastic;
mod fast;
mod flesh;
mod silhouettes;
mod swing;
mod thesis;

use crate::app::context::{Context, folder, say, stage, write_png};
use crate::asset::{Asset, Material};
use crate::base::{Error, Result};
use crate::scene::{Cell, sheet};
use easel::Easel;
use std::fmt::Write;
use std::path::PathBuf;

/// A figure of a paper.
pub struct Figure {
    /// File name without set name and `.png`, e.g. `fig24-bulge`.
    pub name: &'static str,
    /// One-line description of the figure.
    pub title: &'static str,
    /// Renders the figure's pictures, row by row.
    draw: fn(&mut Easel<'_>) -> Result<Vec<Vec<Cell>>>,
}

/// The figures of one paper.
pub struct Set {
    /// Name on the command line, and prefix of the figures' file names.
    pub name: &'static str,
    /// Title of the paper.
    pub paper: &'static str,
    /// The figures, in the paper's order.
    pub figures: &'static [Figure],
}

/// All sets of figures.
pub const SETS: &[Set] = &[thesis::SET, fast::SET, flesh::SET, elastic::SET, cages::SET];

/// Gives all meshes of a model without materials the figures' grey.
fn grey(asset: &mut Asset) {
    asset.materials.push(Material {
        base_color: [0.62, 0.70, 0.80, 1.0].into(),
        metallic: 0.0,
        roughness: 0.55,
        ..Default::default()
    });
    let parts = asset.meshes.iter_mut().flat_map(|m| &mut m.primitives);
    parts.for_each(|p| p.material = Some(0usize.into()));
}

/// What to draw.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Figures or sets by name, e.g. `thesis` or `fig24-bulge`; by default all
    names: Vec<String>,
    /// The folder
    #[arg(long, default_value = "out/figures")]
    out: PathBuf,
}

/// Draws the selected figures, and writes `figures.md`, which shows all existing figures.
///
/// # Errors
/// [`Error::Input`] for an unknown name; any error from drawing or writing.
pub fn figures(context: &mut Context, args: &Args) -> Result<()> {
    let all = || SETS.iter().flat_map(|set| set.figures.iter().map(move |figure| (set, figure)));
    let known = |name: &String| all().any(|(set, figure)| set.name == name || figure.name == name);
    if let Some(name) = args.names.iter().find(|n| !known(n)) {
        let names: Vec<&str> = all().map(|(_, figure)| figure.name).collect();
        let sets: Vec<&str> = SETS.iter().map(|s| s.name).collect();
        let remedy = format!("choose of {}; or {}", names.join(", "), sets.join(", "));
        return Err(Error::input(format!("there is no figure {name:?}"), remedy));
    }
    folder(&args.out)?;
    let wanted = |set: &Set, figure: &Figure| {
        args.names.is_empty() || args.names.iter().any(|n| n == set.name || n == figure.name)
    };
    let mut easel = Easel::new(context);
    for (set, figure) in all().filter(|(set, figure)| wanted(set, figure)) {
        let file = args.out.join(format!("{}-{}.png", set.name, figure.name));
        let (rows, time) = stage(figure.title, || (figure.draw)(&mut easel))?;
        write_png(&file, &sheet(&rows))?;
        say(format_args!("{}: {} ({:.1} s)", file.display(), figure.title, time.as_secs_f32()));
    }
    let there =
        |set: &Set, figure: &Figure| args.out.join(format!("{}-{}.png", set.name, figure.name)).exists();
    crate::export::write_atomically(args.out.join("figures.md"), index(there).as_bytes())
}

/// Formats a Markdown page of the figures whose files exist.
fn index(there: impl Fn(&Set, &Figure) -> bool) -> String {
    let mut page = String::from("# Figures\n");
    for set in SETS {
        let _ = write!(page, "\n## {}\n", set.paper);
        for figure in set.figures.iter().filter(|f| there(set, f)) {
            let _ =
                write!(page, "\n{}\n\n![{}]({}-{}.png)\n", figure.title, figure.title, set.name, figure.name);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_page_shows_what_is_there() {
        let mut names: Vec<&str> = SETS.iter().map(|s| s.name).collect();
        names.extend(SETS.iter().flat_map(|s| s.figures).map(|f| f.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let page = index(|_, figure| figure.name == "fig24-bulge");
        assert!(page.contains("(thesis-fig24-bulge.png)") && page.matches("![").count() == 1, "{page}");
    }
}
