//! Figures of *Skeleton Driven Volumetric Deformation*, drawn with the method `volume`.
//!
//! **(differs)** The paper fills the mesh with tetrahedra, uses energy B and holds the skin. Sinew fills it with cubes,
//! uses energy C and holds the bones. The paper twists one joint by 360° and carries the shape from frame to frame.
//! Here frames are independent, so three joints twist by 120° each. The paper's scanned mesh is not redistributable;
//! the generated person replaces it.

use super::easel::{Easel, Sitter};
use super::{Figure, Set};
use crate::base::Result;
use crate::base::math::{Aabb, Vec3};
use crate::document::DeformerSettings;
use crate::generate::Kind;
use crate::rig::Axis;
use crate::scene::Cell;

/// The set of that paper's figures.
pub const SET: Set = Set {
    name: "volume",
    paper: "Skeleton Driven Volumetric Deformation",
    figures: &[
        Figure {
            name: "volume2-bar",
            title: "Figure 2: a bar bent by 90° and twisted by 360°, by linear skinning and by the volume",
            draw: bar,
        },
        Figure {
            name: "volume3-shoulder",
            title: "Figure 3: a raised and a lowered shoulder, by linear skinning and by the volume",
            draw: shoulder,
        },
        Figure { name: "volume4-dance", title: "Figure 4: a creature dances", draw: dance },
        Figure { name: "volume5-poses", title: "Figure 5: a person in several poses", draw: poses },
    ],
};

/// Rotations of a pose: name of the joint, axis, and angle in degrees.
type Turns = &'static [(&'static str, Axis, f32)];

/// Creates a character that is deformed by `method` and posed by `turns`. The camera is rotated by `yaw` degrees.
fn posed(
    easel: &mut Easel<'_>,
    kind: Kind,
    method: &str,
    (yaw, size): (f32, [u32; 2]),
    turns: Turns,
) -> Result<Sitter> {
    let contact = if method == "volume" { vec![("contact".to_owned(), 3.into())] } else { Vec::new() };
    let settings = DeformerSettings { method: method.to_owned(), parameters: contact.into_iter().collect() };
    let mut sitter = easel.sitter_of(kind, settings, [yaw, 8.0], size)?;
    turns.iter().try_for_each(|(joint, axis, degrees)| sitter.turn(joint, *axis, *degrees))?;
    Ok(sitter)
}

fn bar(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let bent: Turns = &[("Bone3", Axis::Z, 90.0)];
    let twisted: Turns = &[("Bone2", Axis::Y, 120.0), ("Bone3", Axis::Y, 120.0), ("Bone4", Axis::Y, 120.0)];
    let mut row = Vec::new();
    for (turns, motion) in [(bent, "bent by 90°"), (twisted, "twisted by 360°")] {
        for (method, name) in [("lbs", "linear skinning"), ("volume", "volume")] {
            let mut sitter = posed(easel, Kind::Box, method, (34.0, [320, 560]), turns)?;
            // All pictures use the same camera.
            let rest = Aabb::of(sitter.model.bound.character.display.positions.iter().copied());
            let wider = Vec3::new(0.4 * rest.size().y, 0.0, 0.0);
            sitter.frame = Some(Aabb { min: rest.min - wider, max: rest.max + wider });
            row.push(sitter.shot(None, &format!("{name}\n{motion}"))?);
        }
    }
    Ok(vec![row])
}

fn shoulder(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let raised: Turns = &[("LeftUpperArm", Axis::Z, 85.0)];
    let lowered: Turns = &[("LeftUpperArm", Axis::Z, -85.0)];
    let mut rows = Vec::new();
    for (turns, motion) in [(raised, "raised"), (lowered, "lowered")] {
        let mut row = Vec::new();
        for (method, name) in [("lbs", "linear skinning"), ("dqs", "dual quaternions"), ("volume", "volume")]
        {
            let mut sitter = posed(easel, Kind::Human, method, (20.0, [380, 380]), turns)?;
            sitter.look_at(["LeftUpperArm", "Chest"], 0.24)?;
            row.push(sitter.shot(None, &format!("{name}\n{motion}"))?);
        }
        rows.push(row);
    }
    Ok(rows)
}

fn dance(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    const STEPS: [Turns; 5] = [
        &[
            ("LeftUpperArm", Axis::Z, 60.0),
            ("RightUpperArm", Axis::Z, 40.0),
            ("LeftLowerArm", Axis::Z, 40.0),
            ("LeftUpperLeg", Axis::X, -60.0),
            ("LeftLowerLeg", Axis::X, 80.0),
            ("Chest", Axis::Y, 20.0),
        ],
        &[
            ("LeftUpperArm", Axis::Y, -50.0),
            ("RightUpperArm", Axis::Y, -50.0),
            ("Spine", Axis::Y, -30.0),
            ("Chest", Axis::Y, -25.0),
            ("RightUpperLeg", Axis::X, -35.0),
            ("RightLowerLeg", Axis::X, 50.0),
            ("Tail1", Axis::Y, 35.0),
        ],
        &[
            ("LeftUpperArm", Axis::Z, 70.0),
            ("RightUpperArm", Axis::Z, -70.0),
            ("LeftLowerArm", Axis::Z, 60.0),
            ("RightLowerArm", Axis::Z, -60.0),
            ("Head", Axis::Z, 15.0),
            ("LeftUpperLeg", Axis::Z, 25.0),
            ("RightUpperLeg", Axis::Z, -25.0),
        ],
        &[
            ("Spine", Axis::X, 30.0),
            ("Chest", Axis::X, 20.0),
            ("LeftUpperLeg", Axis::X, -70.0),
            ("RightUpperLeg", Axis::X, -70.0),
            ("LeftLowerLeg", Axis::X, 75.0),
            ("RightLowerLeg", Axis::X, 75.0),
            ("LeftUpperArm", Axis::Y, -60.0),
            ("RightUpperArm", Axis::Y, 60.0),
        ],
        &[
            ("Spine", Axis::Y, 40.0),
            ("Chest", Axis::Y, 30.0),
            ("Head", Axis::Y, -30.0),
            ("LeftUpperArm", Axis::Z, -45.0),
            ("RightUpperArm", Axis::Z, -75.0),
            ("RightLowerArm", Axis::Z, -40.0),
            ("Tail1", Axis::X, -30.0),
        ],
    ];
    let step = |easel: &mut Easel<'_>, (number, turns): (usize, &Turns)| {
        posed(easel, Kind::Golem, "volume", (25.0, [340, 440]), turns)?
            .shot(None, &format!("step {}", number + 1))
    };
    Ok(vec![STEPS.iter().enumerate().map(|s| step(easel, s)).collect::<Result<_>>()?])
}

fn poses(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    const POSES: [(Turns, &str); 4] = [
        (
            &[
                ("LeftUpperLeg", Axis::X, -85.0),
                ("RightUpperLeg", Axis::X, -85.0),
                ("LeftLowerLeg", Axis::X, 90.0),
                ("RightLowerLeg", Axis::X, 90.0),
                ("LeftUpperArm", Axis::Z, -60.0),
                ("RightUpperArm", Axis::Z, 60.0),
            ],
            "sits",
        ),
        (
            &[
                ("LeftUpperArm", Axis::Z, 60.0),
                ("RightUpperArm", Axis::Z, -60.0),
                ("Spine1", Axis::Z, 15.0),
                ("LeftUpperLeg", Axis::X, -40.0),
                ("LeftLowerLeg", Axis::X, 70.0),
            ],
            "jumps",
        ),
        (
            &[
                ("Spine1", Axis::X, 35.0),
                ("Spine2", Axis::X, 25.0),
                ("LeftUpperArm", Axis::Y, -70.0),
                ("RightUpperArm", Axis::Y, 70.0),
                ("LeftLowerArm", Axis::Y, -40.0),
                ("RightLowerArm", Axis::Y, 40.0),
            ],
            "bows",
        ),
        (
            &[
                ("LeftUpperArm", Axis::Y, -80.0),
                ("LeftLowerArm", Axis::Y, -110.0),
                ("RightUpperArm", Axis::Z, 60.0),
                ("Spine2", Axis::Y, -30.0),
                ("Head", Axis::Y, 30.0),
            ],
            "points",
        ),
    ];
    let shot = |easel: &mut Easel<'_>, (turns, name): &(Turns, &str)| {
        posed(easel, Kind::Human, "volume", (30.0, [360, 520]), turns)?.shot(None, name)
    };
    Ok(vec![POSES.iter().map(|p| shot(easel, p)).collect::<Result<_>>()?])
}
