//! Points and regions of the skin as handles: `--point X,Y,Z=X,Y,Z` and `--region X,Y,Z,RADIUS=X,Y,Z`.

use crate::app::context::Context;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, GripId, Result};
use crate::commands::save::write;
use crate::deform::fast::{Body, Constraint, GripShape, Grips, Params, Target};
use crate::document::{DeformerSettings, Edit};
use crate::project::Saving;
use crate::rig::{GripHold, PosedRig, Skeleton};
use crate::scene::Model;
use crate::surface::Grip;
use std::path::Path;

/// A point or a region of the skin that the command line names.
pub(super) struct Point {
    /// The vertices, and the id of the grip.
    shape: GripShape,
    /// Its centre in the rest pose, world space, metres.
    from: DVec3,
    /// Where it goes, world space, metres; `None` leaves it free.
    to: Option<DVec3>,
}

/// Reads the points and the regions of the command line. A point is the vertex nearest to the given place.
///
/// # Errors
/// [`Error::Input`] if a text has another form, or a region contains no vertex.
pub(super) fn points(
    model: &Model,
    rig: &PosedRig,
    points: &[String],
    regions: &[String],
) -> Result<Vec<Point>> {
    let control = &model.bound.character.control;
    let skinned = |v: usize| -> Vec3 {
        let of = control.influences.of(v);
        of.map(|(j, w)| rig.skinning[usize::from(j)].transform_point3(control.positions[v]) * w).sum()
    };
    let skin: Vec<DVec3> = (0..control.positions.len()).map(|v| skinned(v).as_dvec3()).collect();
    let mut out = Vec::new();
    let all = points.iter().map(|t| (t, false)).chain(regions.iter().map(|t| (t, true)));
    for (id, (text, region)) in all.enumerate() {
        let (option, shape) = match region {
            false => ("point", "write X,Y,Z=X,Y,Z, X,Y,Z=+X,Y,Z or X,Y,Z=free, e.g. 0,1.7,0.1=+0,0,0.2"),
            true => ("region", "write X,Y,Z,RADIUS=X,Y,Z, X,Y,Z,RADIUS=+X,Y,Z or X,Y,Z,RADIUS=free"),
        };
        let wrong = || Error::input(format!("--{option} {text}"), shape);
        let (place, goal) = text.split_once('=').ok_or_else(wrong)?;
        let numbers = numbers(place).ok_or_else(wrong)?;
        let (at, radius) = match (&numbers[..], region) {
            ([x, y, z], false) => (DVec3::new(*x, *y, *z), None),
            ([x, y, z, radius], true) if *radius > 0.0 => (DVec3::new(*x, *y, *z), Some(*radius)),
            _ => return Err(wrong()),
        };
        let vertices: Vec<u32> = match radius {
            Some(radius) => {
                (0..skin.len()).filter(|&v| skin[v].distance(at) <= radius).map(|v| v as u32).collect()
            }
            None => {
                let away = |v: &usize| skin[*v].distance_squared(at);
                let nearest = (0..skin.len()).min_by(|a, b| away(a).total_cmp(&away(b)));
                nearest.into_iter().map(|v| v as u32).collect()
            }
        };
        if vertices.is_empty() {
            let problem = format!("--{option} {text}: no vertex of the mesh is there");
            return Err(Error::input(problem, "choose another place, or a larger radius"));
        }
        let from = vertices.iter().map(|&v| skin[v as usize]).sum::<DVec3>() / vertices.len() as f64;
        let to = match goal.trim() {
            "free" => None,
            goal => {
                let relative = goal.starts_with('+');
                let numbers = self::numbers(goal.strip_prefix('+').unwrap_or(goal));
                let Some([x, y, z]) = numbers.as_deref() else { return Err(wrong()) };
                let goal = DVec3::new(*x, *y, *z);
                Some(if relative { from + goal } else { goal })
            }
        };
        out.push(Point { shape: GripShape { id: GripId::from(id), vertices }, from, to });
    }
    Ok(out)
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(',').map(|n| n.trim().parse().ok().filter(|v: &f64| v.is_finite())).collect()
}

/// Returns the grips for a binding.
pub(super) fn grips(points: &[Point]) -> Grips {
    Grips::new(points.iter().map(|p| p.shape.clone()).collect())
}

/// Appends the constraints of the points that are not free, and a segment from each point's place to its target.
pub(super) fn constrain(
    points: &[Point],
    (skeleton, body): (&Skeleton, &Body),
    (constraints, targets): (&mut Vec<Constraint>, &mut Vec<Target>),
    leashes: &mut Vec<[Vec3; 2]>,
) {
    for (k, point) in points.iter().enumerate() {
        let Some(to) = point.to else { continue };
        let handle = body.joints.len() + k;
        constraints.push(Constraint::on_handle(handle, body.center(skeleton, handle)));
        targets.push(Target::Point(to));
        leashes.push([point.from.as_vec3(), to.as_vec3()]);
    }
}

/// Writes a project whose document has the points as grips, and the method `fast` with these settings.
///
/// # Errors
/// [`Error::Input`] if there is no point, and any error of binding and writing.
pub(super) fn save(
    context: &mut Context,
    model: &Model,
    points: &[Point],
    params: &Params,
    path: &Path,
) -> Result<()> {
    if points.is_empty() {
        let problem = format!("{}: a project of `fast` needs grips", path.display());
        return Err(Error::input(problem, "give --point or --region"));
    }
    let mut session = model.start(None)?;
    let mut settings = DeformerSettings::of("fast");
    let counts = [("extra", params.extra), ("clusters", params.clusters)];
    settings.parameters.extend(counts.map(|(name, count)| (name.to_owned(), count.into())));
    settings.parameters.insert("hinge".to_owned(), params.hinge.into());
    if let Some(energy) = params.energy {
        let energy = serde_json::to_value(energy).unwrap_or_default();
        settings.parameters.insert("energy".to_owned(), energy);
    }
    session.apply(Edit::SetDeformer(settings))?;
    for point in points {
        let mut grip = Grip::new(point.shape.id, point.shape.vertices.iter().copied());
        match point.to {
            Some(to) => grip.translation = (to - point.from).as_vec3().to_array(),
            None => grip.hold = GripHold::Free,
        }
        session.apply(Edit::AddGrip { index: None, grip: Box::new(grip) })?;
    }
    write(context, model, session.document(), path, Saving::default(), false)
}
