//! Springs against LBS and DQS at the joints of real characters: 90° bends, 120° and 180° twists.
//!
//! Springs must keep the volume of limbs where linear blending loses it, must hardly fold an edge, and must not break any
//! shape. `sinew compare --bends --twists` writes the whole table.

use sinew::base::testing::shared;

use sinew::bind::BindOptions;
use sinew::commands::joints::{JointLine, Motion, every, study};
use sinew::deform::Kernels;
use sinew::document::DeformerSettings;
use sinew::gpu::testing::{assert_silent, device};
use sinew::scene::{Model, Where};
use std::path::Path;
use std::sync::Arc;

const MOTIONS: [Motion; 3] = [Motion::Bend(90.0), Motion::Twist(120.0), Motion::Twist(180.0)];

fn shared_lines(name: &str) -> Option<Vec<[JointLine; 3]>> {
    Some(lines(&shared(name)?))
}

/// Results of LBS, DQS and springs.
fn lines(path: &Path) -> Vec<[JointLine; 3]> {
    let model = Model::load(path, &BindOptions::default()).unwrap();
    let methods = ["lbs", "dqs", "springs"]
        .map(|m| DeformerSettings { method: m.into(), ..DeformerSettings::default() });
    let lines = study(&Where::Cpu, &model, &every(&model, &MOTIONS), &methods, |_, _, _| Ok(())).unwrap();
    assert!(!lines.is_empty() && lines.len().is_multiple_of(9), "{}: {} lines", path.display(), lines.len());
    lines.chunks(3).map(|c| [c[0].clone(), c[1].clone(), c[2].clone()]).collect()
}

#[test]
fn limbs_keep_volume_and_orientation_at_joints() {
    for name in ["khronos/CesiumMan/glTF-Binary/CesiumMan.glb", "characters/mannequiny.glb"] {
        let Some(rows) = shared_lines(name) else { continue };
        let total = |method: usize, of: fn(&JointLine) -> usize| -> usize {
            rows.iter().map(|row| of(&row[method])).sum()
        };
        let mut losing = 0;
        for row in &rows {
            let [lbs, _, springs] = row;
            let volume = |l: &JointLine| l.joint_volume_ratio.unwrap();
            assert!(springs.measure.stretch_max.is_finite());
            if volume(lbs) < 0.95 {
                losing += 1;
                let kept = volume(springs);
                assert!((0.93..1.07).contains(&kept), "{name} {} {}: {kept}", springs.joint, springs.motion);
            }
        }
        assert!(losing >= 8, "{name}: LBS loses volume in {losing} rows only");
        let folded = |method| total(method, |l| l.measure.folded_edges);
        assert!(folded(2) <= folded(0).max(folded(1)), "{name}: {} folded edges", folded(2));
    }
}

#[test]
fn a_twisted_elbow_and_knee_keep_their_thickness() {
    let Some(rows) = shared_lines("khronos/CesiumMan/glTF-Binary/CesiumMan.glb") else { return };
    let mut seen = 0;
    for row in rows.iter().filter(|r| r[0].motion != "bend 90") {
        // Selects the middle joint of an arm and of a leg. The skin there is a tube, so its volume is well defined.
        if !row[0].joint.contains("joint_R__2_") && row[0].joint != "leg_joint_R_2" {
            continue;
        }
        seen += 1;
        let [lbs, _, springs] = row.each_ref().map(|l| l.joint_volume_ratio.unwrap());
        assert!(lbs < 0.7, "{}: linear blending keeps {lbs}", row[0].joint);
        assert!(springs > 0.83 && springs < 1.1, "{} {}: {springs}", row[0].joint, row[0].motion);
    }
    assert_eq!(seen, 4);
}

#[test]
fn the_human_keeps_its_volume_and_turns_hardly_a_triangle_over() {
    let rows = lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/human.glb"));
    let (mut thin, mut losing) = (0, 0);
    for [lbs, _, springs] in &rows {
        let kept = |l: &JointLine| l.joint_volume_ratio.unwrap();
        if kept(lbs) < 0.95 {
            losing += 1;
            thin += usize::from((kept(springs) - 1.0).abs() > 0.05);
            assert!((kept(springs) - 1.0).abs() < 0.15, "{} {}: {}", lbs.joint, lbs.motion, kept(springs));
        }
    }
    assert!(thin == 0 && losing > 10, "{thin} of {losing} lose volume");
    let sum =
        |of: fn(&JointLine) -> usize| [0, 1, 2].map(|m| rows.iter().map(|row| of(&row[m])).sum::<usize>());
    let [over, crossings] = [sum(|l| l.distortion.turned_over), sum(|l| l.crossings.crossings)];
    for [lbs, dqs, springs] in [over, crossings] {
        assert!(4 * springs <= lbs && springs <= dqs, "turned over {over:?}, crossings {crossings:?}");
    }
}

/// A chest that bends at one joint folds through itself and loses volume that no growth of the skin around the fold can
/// restore. Such growth once tore the skin: its largest elongation was 3.4 to 4.6 times that of LBS.
#[test]
fn a_bent_chest_does_not_tear() {
    let methods =
        ["lbs", "springs"].map(|m| DeformerSettings { method: m.into(), ..DeformerSettings::default() });
    for (name, joint, most) in [
        ("derived/makehuman_male_4infl.glb", "spine01", 1.5),
        ("derived/valid_Black_M_1_Casual_plain.glb", "Spine2", 2.5),
    ] {
        let Some(path) = shared(name) else { continue };
        let model = Model::load(&path, &BindOptions::default()).unwrap();
        let rows = every(&model, &[Motion::Bend(60.0), Motion::Bend(90.0)]);
        let rows: Vec<_> = rows
            .into_iter()
            .filter(|(one, _)| model.skeleton().nodes[one.node.index()].name == joint)
            .collect();
        let lines = study(&Where::Cpu, &model, &rows, &methods, |_, _, _| Ok(())).unwrap();
        assert_eq!(lines.len(), 4, "{name}");
        for row in lines.chunks(2) {
            let ratio = row[1].distortion.elongation / row[0].distortion.elongation;
            assert!(ratio < most, "{name} {}: {ratio} times the elongation of LBS", row[0].motion);
        }
    }
}

/// Compares lengths, as-rigid-as-possible energy and inverted triangles, measured by `geom::Distortion`.
#[test]
fn the_volume_distorts_the_skin_less_than_linear_blending() {
    let own = |name: &str| Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name));
    let Some(device) = device() else { return };
    let gpu = Where::Gpu(Arc::new(Kernels::new(&device).unwrap()));
    // Counting crossings takes most of the time, so the larger character only bends.
    let both: &[Motion] = &[Motion::Bend(90.0), Motion::Twist(120.0)];
    let files = [(own("human.glb"), both), (shared("derived/makehuman_male_4infl.glb"), &both[..1])];
    let methods =
        ["lbs", "volume"].map(|m| DeformerSettings { method: m.into(), ..DeformerSettings::default() });
    for (path, motions) in files {
        let Some(path) = path else { continue };
        let model = Model::load(&path, &BindOptions::default()).unwrap();
        let lines = study(&gpu, &model, &every(&model, motions), &methods, |_, _, _| Ok(())).unwrap();
        let name = path.display();
        let median = |of: fn(&JointLine) -> f64| {
            let mut ratios: Vec<f64> = lines.chunks(2).map(|row| of(&row[1]) / of(&row[0])).collect();
            ratios.sort_by(f64::total_cmp);
            ratios[ratios.len() / 2]
        };
        let (elongation, energy) = (median(|l| l.distortion.elongation), median(|l| l.distortion.energy));
        assert!(elongation < 0.75 && energy < 0.6, "{name}: elongation {elongation}, energy {energy}");
        let over =
            |method: usize| -> usize { lines.chunks(2).map(|row| row[method].distortion.turned_over).sum() };
        assert!(4 * over(1) <= over(0), "{name}: {} triangles turned over, LBS {}", over(1), over(0));
        for line in lines.chunks(2).map(|row| &row[1]) {
            let volume = line.measure.volume_ratio.unwrap();
            // A person's trunk that bends at a single joint folds through itself and loses most volume.
            assert!((0.925..1.03).contains(&volume), "{name} {} {}: {volume}", line.joint, line.motion);
        }
    }
    assert_silent(&device);
}

/// Substeps start contact from shallow overlaps, so contact leaves fewer crossings and distorts no more.
#[test]
fn substeps_leave_fewer_crossings_than_one_solve() {
    let Some(device) = device() else { return };
    let gpu = Where::Gpu(Arc::new(Kernels::new(&device).unwrap()));
    let model =
        Model::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/chibi.glb"), &BindOptions::default())
            .unwrap();
    let volume = |substeps: u32| DeformerSettings {
        method: "volume".into(),
        parameters: [("contact", 3), ("substeps", substeps)].map(|(k, v)| (k.into(), v.into())).into(),
    };
    // With 0, the pose determines their number.
    let methods = [volume(1), volume(4), volume(0)];
    // Twisted this far, an upper arm starts with the flesh of the shoulder inside itself.
    let mut poses = every(&model, &[Motion::Twist(170.0)]);
    poses.retain(|(joint, _)| model.skeleton().nodes[joint.node.index()].name == "RightUpperArm");
    let lines = study(&gpu, &model, &poses, &methods, |_, _, _| Ok(())).unwrap();
    let crossings: Vec<_> = lines.iter().map(|l| l.crossings.crossings).collect();
    let energy: Vec<_> = lines.iter().map(|l| l.distortion.energy).collect();
    assert!(lines.len() == 3 && crossings[0] > 40);
    for more in 1..3 {
        assert!(4 * crossings[more] < crossings[0], "{crossings:?}");
        assert!(energy[more] < energy[0], "{energy:?}");
        assert!(lines[0].distortion.turned_over >= lines[more].distortion.turned_over);
    }
    assert_silent(&device);
}
