//! Figures of the thesis "Expressive Skinning Methods for 3D Character Animation". This file has those of sculpt layers
//! (chapter 5) and of the regions around their strokes (7.3, 7.4).

mod binding;
mod springs;
mod strokes;

use super::easel::{Easel, Sitter, dots};
use super::{Figure, Set};
use crate::base::Result;
use crate::base::math::{Aabb, Vec3};
use crate::document::{Edit, KeyEdit, KeyValue, Target};
use crate::generate::Kind;
use crate::render::{BASELINE, Lines, OFFSET};
use crate::rig::Axis;
use crate::scene::Cell;

/// The set of the thesis's figures.
pub const SET: Set = Set {
    name: "thesis",
    paper: "Expressive Skinning Methods for 3D Character Animation (thesis)",
    figures: &[
        Figure {
            name: "dynamics",
            title: "Section 4.2: flesh lags behind a hop that ends, swings about its equilibrium and comes to rest",
            draw: super::swing::hop,
        },
        Figure {
            name: "fig2-skinning",
            title: "Figures 2 and 3: a twist and a bend by LBS and by DQS",
            draw: springs::skinning,
        },
        Figure {
            name: "fig5-nose",
            title: "Figure 5: a redrawn silhouette moves a region by LSE: handles yellow, passive green, anchors red",
            draw: super::silhouettes::nose,
        },
        Figure {
            name: "fig7-attachment",
            title: "Figures 7 and 8: attachment points (red) and scale vectors (green) of four rules",
            draw: binding::attachment,
        },
        Figure {
            name: "fig9-leg",
            title: "Figure 9: a leg bound by projection and by dividing planes",
            draw: binding::leg,
        },
        Figure {
            name: "fig10-dividers",
            title: "Figure 10: dividing planes, and the regions that they cut",
            draw: binding::dividers,
        },
        Figure {
            name: "fig11-centres",
            title: "Figure 11: optimized centres of rotation",
            draw: binding::centres,
        },
        Figure {
            name: "fig12-irs",
            title: "Figure 12: section of a cylinder in bind, rigid, and by IRS",
            draw: binding::section_of_irs,
        },
        Figure {
            name: "fig13-length",
            title: "Figure 13: IRS without and with corrected lengths",
            draw: binding::length_correction,
        },
        Figure {
            name: "fig14-irs",
            title: "Figure 14: IRS with other bone lengths and longer scale vectors",
            draw: binding::irs_deformations,
        },
        Figure {
            name: "fig15-hip",
            title: "Figure 15: a hip by dividing planes and IRS, and by LBS",
            draw: binding::hip,
        },
        Figure {
            name: "fig16-arap",
            title: "Figure 16: a bend of 90 degrees by IRS and by ARAP on scale vectors",
            draw: binding::arap,
        },
        Figure {
            name: "fig17-forces",
            title: "Figure 17: sections of a bend under the thesis's forces",
            draw: springs::forces,
        },
        Figure {
            name: "fig18-accumulated",
            title: "Figure 18: the thesis's forces, added one by one",
            draw: springs::accumulated,
        },
        Figure {
            name: "fig19-methods",
            title: "Figure 19: twist and swing by LBS, DQS and rigid skinning, and by springs from each",
            draw: springs::compared,
        },
        Figure {
            name: "fig20-stretching",
            title: "Figure 20: a stretching child by LBS and by springs",
            draw: springs::stretching,
        },
        Figure {
            name: "fig21-coefficients",
            title: "Figure 21: swing and twist with other coefficients and numbers of iterations",
            draw: springs::coefficients,
        },
        Figure {
            name: "fig22-easing",
            title: "Figure 22: easing functions over scale vectors along a bone",
            draw: easing,
        },
        Figure {
            name: "fig23-breathing",
            title: "Figure 23: a posed chest keyed to breathe",
            draw: breathing,
        },
        Figure { name: "fig24-bulge", title: "Figure 24: drawn on, swollen, and posed", draw: bulge },
        Figure {
            name: "fig25-overlap",
            title: "Figure 25: edits that meet, rigid and by springs",
            draw: overlap,
        },
        Figure { name: "fig26-wave", title: "Figure 26: a wave travels from left to right", draw: wave },
        Figure {
            name: "fig29-posing",
            title: "Figures 29 and 31: a baseline, its offset stroke, and the pose",
            draw: strokes::posing,
        },
        Figure {
            name: "fig30-strokes",
            title: "Figure 30: a pose of several strokes",
            draw: strokes::pose_of_strokes,
        },
        Figure {
            name: "fig32-filters",
            title: "Figure 32: silhouettes by three Laplacian filters",
            draw: strokes::filters,
        },
        Figure {
            name: "fig33-prism",
            title: "Figure 33: the silhouette edge of a prism follows an accent stroke",
            draw: super::silhouettes::prism,
        },
        Figure {
            name: "fig33-live",
            title: "Section 7.3: silhouettes, and the skin while an accent stroke is drawn",
            draw: super::silhouettes::live,
        },
        Figure {
            name: "fig34-region",
            title: "Figure 34: a stroke, its region up to 4 edges away, and up to 8",
            draw: region,
        },
    ],
};

/// Width of lines on the skin, pixels.
const LINE: f32 = 5.0;

fn easing(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut row = Vec::new();
    for (profile, caption) in [
        (None, "in bind"),
        (Some("linear"), "linear"),
        (Some("cubic-in"), "cubic in"),
        (Some("quartic-out"), "quartic out"),
    ] {
        // This figure uses the first method of chapter 5: the skinning rotates scale vectors, and the sculpt layer
        // lengthens them.
        let mut sitter = easel.sitter(Kind::Box, "irs", [34.0, 8.0], [300, 560])?;
        // All pictures use the same camera.
        let rest = Aabb::of(sitter.model.bound.character.display.positions.iter().copied());
        let wider = rest.size() * Vec3::new(0.3, 0.0, 0.3);
        sitter.frame = Some(Aabb { min: rest.min - wider, max: rest.max + wider });
        if let Some(profile) = profile {
            sitter.shape(&format!("bone=Bone2 profile={profile} amount=0.8"))?;
        }
        row.push(sitter.shot(None, caption)?);
    }
    Ok(vec![row])
}

fn breathing(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut sitter = easel.sitter(Kind::Human, "springs", [68.0, 6.0], [420, 480])?;
    sitter.turn("LeftUpperArm", Axis::Z, 35.0)?;
    sitter.turn("LeftLowerArm", Axis::Y, -60.0)?;
    sitter.turn("Spine1", Axis::Y, 14.0)?;
    sitter.shape("line=Spine2@-0.6..1.6@0 profile=parabola amount=0.42 reach=14")?;
    let id = sitter.session.document().sculpts()[0].id;
    for (time, amplitude) in [(0.0, 0.0), (1.0, 1.0), (2.5, 0.0)] {
        let keys = vec![KeyValue { target: Target::SculptAmplitude(id), value: vec![amplitude] }];
        sitter.session.apply(Edit::Keys(KeyEdit::Insert { time, keys }))?;
    }
    sitter.look_at(["Spine2", "Neck"], 0.2)?;
    let mark = sitter.session.document().marks()[0].clone();
    let out = sitter.evaluate(Some(0.0))?;
    let still = sitter.mark(&mark, &out);
    let mut row = Vec::new();
    for (time, caption) in [(0.0, "0 s, key: out"), (0.5, "0.5 s"), (1.0, "1 s, key: in"), (1.75, "1.75 s")] {
        let shape = sitter.evaluate(Some(time))?;
        let mut lines = Lines::default();
        lines.polyline(&still, BASELINE, LINE, 1.0);
        lines.polyline(&sitter.mark(&mark, &shape), OFFSET, LINE, 1.0);
        row.push(sitter.picture(&shape, &lines, caption)?);
    }
    Ok(vec![row])
}

fn bulge(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut sitter = easel.sitter(Kind::Human, "springs", [36.0, 10.0], [400, 400])?;
    sitter.look_at(["LeftUpperArm", "LeftHand"], 0.19)?;
    let plain = sitter.evaluate(None)?;
    sitter.shape("line=LeftUpperArm@0.2..0.92@0 profile=parabola amount=1.0 reach=5")?;
    let shape = sitter.evaluate(None)?;
    let (mark, sculpt) = {
        let document = sitter.session.document();
        (document.marks()[0].clone(), document.sculpts()[0].clone())
    };
    let (on, off) = (sitter.mark(&mark, &plain), sitter.mark(&mark, &shape));
    let drawn = |strokes: &[(&[Vec3], [u8; 4])]| {
        let mut lines = Lines::default();
        strokes.iter().for_each(|(points, color)| lines.stroke(points, *color, LINE));
        lines
    };
    let mut green = Lines::default();
    dots(&sculpt.region, &plain, 5.0, &mut green);
    let first = vec![
        sitter.picture(&plain, &drawn(&[(&on, BASELINE)]), "a  drawn on the skin")?,
        sitter.picture(&plain, &green, "b  its region")?,
        sitter.picture(&plain, &drawn(&[(&on, BASELINE), (&off, OFFSET)]), "c  offset stroke")?,
        sitter.picture(&shape, &Lines::default(), "d  in bind")?,
    ];
    let mut second = Vec::new();
    for (degrees, on, wire, caption) in [
        (-110.0, false, false, "e  bent, without"),
        (-50.0, true, false, "f  bent by 50 degrees"),
        (-110.0, true, false, "g  bent by 110 degrees"),
        (-110.0, true, true, "h  its triangles"),
    ] {
        let mut sculpt = sculpt.clone();
        sculpt.enabled = on;
        let mut pose = sitter.model.rest();
        let node = sitter.node("LeftLowerArm")?;
        crate::rig::rotate_joint(sitter.model.skeleton(), &mut pose, node, &[(Axis::Y, degrees)])?;
        let edits = vec![Edit::SetPose(pose), Edit::SetSculpt(Box::new(sculpt))];
        sitter.session.apply(Edit::Group(edits))?;
        sitter.studio.look_mut().wire = wire;
        second.push(sitter.shot(None, caption)?);
    }
    Ok(vec![first, second])
}

fn overlap(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut rows = Vec::new();
    for (wire, bend, pose) in [(false, 0.0, "in bind"), (true, 45.0, "bent, triangles")] {
        let mut row = Vec::new();
        for method in ["rigid", "springs"] {
            let mut sitter = easel.sitter(Kind::Box, method, [34.0, 10.0], [460, 460])?;
            sitter.shape("ring=Bone2@0.3 profile=even amount=0.75 reach=1")?;
            sitter.shape("ring=Bone2@0.62 profile=even amount=-0.4 reach=1")?;
            sitter.shape("line=Bone2@0.1..0.9@45 profile=parabola amount=0.5 reach=2")?;
            sitter.turn("Bone3", Axis::Z, bend)?;
            sitter.look_at(["Bone2", "Bone3"], 0.25)?;
            sitter.studio.look_mut().wire = wire;
            row.push(sitter.shot(None, &format!("{method}, {pose}"))?);
        }
        rows.push(row);
    }
    Ok(rows)
}

fn wave(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut sitter = easel.sitter(Kind::Box, "springs", [0.0, 14.0], [640, 240])?;
    sitter.turn("Bone1", Axis::Z, -90.0)?;
    sitter.shape("line=Bone2@-0.9..2.9@-90 profile=wave count=1.5 speed=1 amount=0.7 reach=6")?;
    let mut rows = vec![Vec::new(), Vec::new(), Vec::new()];
    for k in 0..6 {
        let time = k as f64 / 6.0;
        rows[k / 2].push(sitter.shot(Some(time), &format!("{time:.2} s"))?);
    }
    Ok(rows)
}

fn region(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let seen = |easel: &mut Easel<'_>, reach: u32| -> Result<Sitter> {
        let mut sitter = easel.sitter(Kind::Human, "dqs", [30.0, 6.0], [440, 560])?;
        sitter.shape(&format!("line=LeftUpperLeg@0.3..0.8@-30 amount=0 reach={reach}"))?;
        sitter.look_at(["LeftUpperLeg", "LeftLowerLeg"], 0.22)?;
        sitter.studio.look_mut().wire = true;
        Ok(sitter)
    };
    let mut sitter = seen(easel, 4)?;
    let shape = sitter.evaluate(None)?;
    let mark = sitter.session.document().marks()[0].clone();
    let mut lines = Lines::default();
    lines.stroke(&sitter.mark(&mark, &shape), [255, 214, 64, 255], LINE);
    let mut row = vec![sitter.picture(&shape, &lines, "drawn on the skin")?];
    for reach in [4, 8] {
        let mut sitter = seen(easel, reach)?;
        let region = sitter.session.document().sculpts()[0].region.clone();
        let mut lines = Lines::default();
        dots(&region, &shape, 6.0, &mut lines);
        row.push(sitter.picture(&shape, &lines, &format!("{reach} edges"))?);
    }
    Ok(vec![row])
}
