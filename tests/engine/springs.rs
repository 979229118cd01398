//! The springs on real rigs with extreme parameters, and their number of iterations at every joint.
//!
//! Sinew's own characters always; rigs of the shared data where there are any.

use sinew::base::math::{Aabb, Quat, Vec3};
use sinew::base::testing::shared;
use sinew::bind::BindOptions;
use sinew::deform::Recipe;
use sinew::deform::springs::{Params, Solver, Stop};
use sinew::rig::{Pose, PosedRig};
use sinew::scene::{Evaluator, Model, Where};
use std::path::Path;

const OWN: [&str; 4] = ["box", "plus", "human", "chibi"];
const SHARED: [&str; 2] = ["khronos/CesiumMan/glTF-Binary/CesiumMan.glb", "khronos/Fox/glTF-Binary/Fox.glb"];

fn own(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/{name}.glb"));
    Model::load(&path, &BindOptions::default()).unwrap()
}

fn rigs() -> Vec<(String, Model)> {
    let own = OWN.map(|name| (name.to_owned(), own(name)));
    let more = SHARED.iter().filter_map(|name| {
        Some(((*name).to_owned(), Model::load(&shared(name)?, &BindOptions::default()).unwrap()))
    });
    own.into_iter().chain(more).collect()
}

/// Rotates every joint by `degrees` about an axis that differs from joint to joint.
fn all_joints(model: &Model, degrees: f32) -> Pose {
    let mut pose = model.rest();
    for (k, joint) in model.skeleton().joints.iter().enumerate() {
        let axis = Vec3::new((1.7 * k as f32).sin(), (2.3 * k as f32 + 1.0).sin(), (3.1 * k as f32).cos());
        rotate(&mut pose, joint.node.index(), Quat::from_axis_angle(axis.normalize(), degrees.to_radians()));
    }
    pose
}

fn rotate(pose: &mut Pose, node: usize, turn: Quat) {
    let local = &mut pose.local[node];
    local.rotation = (local.rotation() * turn).normalize().into();
}

/// The named method with other spring parameters.
fn with(method: &str, params: Params) -> Recipe {
    Recipe { springs: Some(params), ..Recipe::from_name(method).unwrap() }
}

fn evaluate(model: &Model, recipe: &Recipe, pose: &Pose) -> (Vec<Vec3>, u32) {
    let shape = Evaluator::new(&Where::Cpu, model, recipe).unwrap().evaluate(model, pose).unwrap();
    (shape.control, shape.iterations)
}

#[test]
fn no_parameter_throws_a_vertex_off_a_real_rig() {
    let short = |params: Params| Params { max_iterations: 10, stop: Stop::Never, ..params };
    let springs = short(Params { volume: 0.0, untangle: 0, ..Params::default() });
    let thesis = short(Params::thesis());
    let plain = Params { solver: Solver::Jacobi, dt: 10.0, ..springs };
    let mut all = vec![
        ("springs", Params { torque: sinew::deform::springs::Torque::Thesis, ..springs }),
        ("springs", Params { bend_reach: 1e-3, hold_reach: 1e-3, girth_reach: 1e3, ..springs }),
        ("springs", Params { hold: 0.0, girth: 0.0, bone: 0.0, torsion: 1e6, omega: 0.99, ..plain }),
    ];
    for gain in [0.0, 1e6] {
        all.extend([
            ("springs", Params { surface: gain, length: 1e6 - gain, ..springs }),
            ("springs", Params { torsion: gain, hold: 1e6 - gain, ..plain }),
            ("thesis", Params { torsion: gain, surface: 1e6 - gain, dt: 10.0, omega: 0.99, ..thesis }),
            ("thesis", Params { length: gain, bone: 1e6 - gain, dt: 10.0, ..thesis }),
        ]);
    }
    for (name, model) in rigs() {
        let pose = all_joints(&model, 75.0);
        let bones = PosedRig::new(model.skeleton(), &pose).bones;
        let starts = ["rigid", "dqs"].map(|m| evaluate(&model, &Recipe::from_name(m).unwrap(), &pose).0);
        let room = Aabb::of(starts.into_iter().flatten().chain(bones.iter().flat_map(|b| [b.head, b.tail])));
        for (method, params) in &all {
            let (x, _) = evaluate(&model, &with(method, *params), &pose);
            let off = x.iter().map(|p| ((*p - room.center()).abs() / room.size()).max_element());
            let far = off.fold(0.0, |a: f32, b| if b.is_finite() { a.max(b) } else { f32::INFINITY });
            assert!(far < 1.0, "{name}, {method}: {far} times the box of the pose, {params:?}");
        }
    }
}

#[test]
fn the_springs_converge_at_every_joint_of_real_rigs() {
    const MOST: u32 = 120;
    let springs =
        with("springs", Params { max_iterations: MOST, volume: 0.0, untangle: 0, ..Params::default() });
    for (name, model) in rigs() {
        let mut evaluator = Evaluator::new(&Where::Cpu, &model, &springs).unwrap();
        let mut needed = |pose: &Pose| evaluator.evaluate(&model, pose).unwrap().iterations;
        let mut worst = (0, String::new());
        for joint in &model.skeleton().joints {
            let node = joint.node.index();
            let mut pose = model.rest();
            rotate(&mut pose, node, Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 60f32.to_radians()));
            worst = worst.max((needed(&pose), model.skeleton().nodes[node].name.clone()));
        }
        let all = needed(&all_joints(&model, 25.0));
        println!("{name}: at most {} iterations ({}), {all} for all joints at once", worst.0, worst.1);
        assert!(worst.0 < MOST && all < MOST, "{name}: {worst:?}, {all}");
    }
}
