//! Icons as vector strokes in the square from -1 to 1, +Y down, so that they are sharp at any size.

use crate::workbench::{NoticeKind, Tool};
use egui::{Color32, Painter, Pos2, Shape, Stroke, pos2};
use std::f32::consts::{PI, TAU};

/// An icon of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after what they show")]
pub enum Icon {
    Line,
    Grab,
    Skin,
    Silhouette,
    Measure,
    Bone,
    Cage,
    Grip,
    Details,
    Undo,
    Redo,
    Keep,
    Stretch,
    Roll,
    Mirror,
    Redraw,
    Remove,
    Pin,
    Play,
    Pause,
    Key,
    AutoKey,
    Record,
    Wire,
    Smooth,
    Phong,
    Binding,
    Crossings,
    Turntable,
    Left,
    Right,
    Person,
    Back,
    Tilt,
    Save,
    Export,
    Folder,
    Hand,
    Buzz,
    Window,
    Quit,
    Close,
    Other,
    Up,
    Character,
    Project,
    Recover,
    Warning,
    Fact,
}

/// A drawing element of an icon.
enum Mark {
    /// A polyline.
    Path(&'static [[f32; 2]]),
    /// Part of an ellipse: centre, radii, start and swept angle in radians (0 is right, positive is clockwise).
    Arc([f32; 2], [f32; 2], f32, f32),
    /// A filled disc: centre and radius.
    Dot([f32; 2], f32),
    /// An arrow head: its tip and its direction, radians.
    Head([f32; 2], f32),
    /// A polyline with its own colour.
    Tinted(&'static [[f32; 2]], [u8; 3]),
}

use Mark::{Arc, Dot, Head, Path, Tinted};

/// Colours of baseline and offset strokes, equal to the colours of strokes in the scene.
const BLUE: [u8; 3] = [88, 170, 255];
const RED: [u8; 3] = [255, 100, 110];

impl Icon {
    /// Returns the icon of a tool.
    pub fn of(tool: Tool) -> Self {
        match tool {
            Tool::Line => Self::Line,
            Tool::Grab => Self::Grab,
            Tool::Skin => Self::Skin,
            Tool::Joint => Self::Roll,
            Tool::Silhouette => Self::Silhouette,
            Tool::Measure => Self::Measure,
            Tool::Bone => Self::Bone,
            Tool::Cage => Self::Cage,
            Tool::Grip => Self::Grip,
        }
    }

    fn marks(self) -> &'static [Mark] {
        match self {
            Self::Line => &[
                Tinted(&[[-0.75, 0.75], [-0.5, 0.3], [-0.42, -0.2], [-0.4, -0.75]], BLUE),
                Tinted(&[[-0.75, 0.75], [-0.2, 0.45], [0.3, 0.0], [0.75, -0.7]], RED),
                Dot([-0.75, 0.75], 0.17),
            ],
            Self::Grab => &[
                Path(&[[-0.8, -0.65], [-0.05, -0.3], [0.35, 0.35]]),
                Dot([-0.8, -0.65], 0.15),
                Dot([-0.05, -0.3], 0.15),
                Arc([0.35, 0.4], [0.4, 0.4], 0.0, TAU),
                Dot([0.35, 0.4], 0.13),
            ],
            Self::Skin => &[
                Path(&[[-0.42, -0.85], [-0.42, 0.85]]),
                Path(&[[0.42, -0.85], [0.42, 0.85]]),
                Arc([0.0, 0.0], [0.62, 0.26], 0.15, TAU - 1.3),
                Dot([0.6, -0.02], 0.16),
            ],
            Self::Silhouette => &[
                Path(&[[-0.7, -0.85], [-0.15, -0.6], [-0.05, 0.0], [-0.15, 0.6], [-0.7, 0.85]]),
                Tinted(&[[0.0, -0.8], [0.45, -0.45], [0.6, 0.0], [0.45, 0.45], [0.0, 0.8]], RED),
            ],
            // A bone: two joints and the wedge between them.
            Self::Bone => &[
                Path(&[[-0.6, 0.6], [-0.35, 0.05], [0.6, -0.6], [-0.05, 0.35], [-0.6, 0.6]]),
                Dot([-0.6, 0.6], 0.2),
                Dot([0.6, -0.6], 0.14),
            ],
            // A box of lines with a knot pulled out.
            Self::Cage => &[
                Path(&[[-0.7, -0.5], [0.3, -0.7], [0.8, -0.1], [0.3, 0.7], [-0.7, 0.5], [-0.7, -0.5]]),
                Path(&[[-0.7, -0.5], [0.3, 0.7]]),
                Path(&[[0.3, -0.7], [0.3, 0.7]]),
                Dot([0.8, -0.1], 0.19),
                Dot([-0.7, -0.5], 0.12),
            ],
            // A pulled point of a surface.
            Self::Grip => &[
                Path(&[[-0.9, 0.6], [-0.45, 0.5], [-0.1, 0.0], [0.1, -0.35]]),
                Path(&[[0.9, 0.6], [0.55, 0.5], [0.3, 0.0], [0.25, -0.35]]),
                Dot([0.18, -0.6], 0.24),
            ],
            // Three sliders.
            Self::Details => &[
                Path(&[[-0.8, -0.55], [0.8, -0.55]]),
                Dot([-0.3, -0.55], 0.22),
                Path(&[[-0.8, 0.0], [0.8, 0.0]]),
                Dot([0.4, 0.0], 0.22),
                Path(&[[-0.8, 0.55], [0.8, 0.55]]),
                Dot([-0.1, 0.55], 0.22),
            ],
            Self::Measure => &[
                Path(&[[-0.9, 0.35], [0.35, -0.9], [0.9, -0.35], [-0.35, 0.9], [-0.9, 0.35]]),
                Path(&[[-0.55, 0.0], [-0.3, 0.25]]),
                Path(&[[-0.2, -0.35], [0.15, 0.0]]),
                Path(&[[0.15, -0.7], [0.4, -0.45]]),
            ],
            Self::Undo => &[
                Path(&[[-0.75, -0.3], [0.25, -0.3]]),
                Arc([0.25, 0.15], [0.45, 0.45], -PI / 2.0, PI),
                Path(&[[0.25, 0.6], [-0.3, 0.6]]),
                Path(&[[-0.4, -0.65], [-0.78, -0.3], [-0.4, 0.05]]),
            ],
            Self::Redo => &[
                Path(&[[0.75, -0.3], [-0.25, -0.3]]),
                Arc([-0.25, 0.15], [0.45, 0.45], -PI / 2.0, -PI),
                Path(&[[-0.25, 0.6], [0.3, 0.6]]),
                Path(&[[0.4, -0.65], [0.78, -0.3], [0.4, 0.05]]),
            ],
            Self::Keep => &[
                Path(&[[-0.8, 0.0], [0.8, 0.0]]),
                Path(&[[-0.8, -0.35], [-0.8, 0.35]]),
                Path(&[[0.8, -0.35], [0.8, 0.35]]),
            ],
            Self::Stretch => {
                &[Path(&[[-0.8, 0.0], [0.8, 0.0]]), Head([-0.85, 0.0], PI), Head([0.85, 0.0], 0.0)]
            }
            Self::Roll => &[
                Path(&[[0.0, -0.9], [0.0, 0.9]]),
                Arc([0.0, 0.0], [0.75, 0.32], -0.9, TAU - 1.1),
                Head([0.42, -0.34], -2.9),
            ],
            Self::Mirror => &[
                Path(&[[0.0, -0.85], [0.0, -0.45]]),
                Path(&[[0.0, -0.2], [0.0, 0.2]]),
                Path(&[[0.0, 0.45], [0.0, 0.85]]),
                Path(&[[-0.28, -0.5], [-0.28, 0.5], [-0.85, 0.5], [-0.28, -0.5]]),
                Path(&[[0.28, -0.5], [0.28, 0.5], [0.85, 0.5], [0.28, -0.5]]),
            ],
            Self::Redraw => &[
                Tinted(&[[-0.8, 0.7], [-0.45, 0.1], [-0.1, -0.05]], RED),
                Path(&[[-0.1, 0.15], [0.5, -0.75], [0.8, -0.55], [0.2, 0.35], [-0.15, 0.5], [-0.1, 0.15]]),
                Path(&[[0.0, 0.8], [0.8, 0.8]]),
            ],
            Self::Remove => &[
                Tinted(&[[-0.8, 0.6], [-0.4, 0.5], [-0.1, 0.0], [0.05, -0.6]], BLUE),
                Path(&[[0.2, 0.1], [0.8, 0.7]]),
                Path(&[[0.8, 0.1], [0.2, 0.7]]),
            ],
            Self::Pin => &[
                Path(&[
                    [-0.35, -0.8],
                    [0.35, -0.8],
                    [0.22, -0.1],
                    [0.5, 0.2],
                    [-0.5, 0.2],
                    [-0.22, -0.1],
                    [-0.35, -0.8],
                ]),
                Path(&[[0.0, 0.2], [0.0, 0.85]]),
            ],
            Self::Play => &[Path(&[[-0.45, -0.7], [0.7, 0.0], [-0.45, 0.7], [-0.45, -0.7], [0.7, 0.0]])],
            Self::Pause => &[Path(&[[-0.35, -0.65], [-0.35, 0.65]]), Path(&[[0.35, -0.65], [0.35, 0.65]])],
            Self::Key => {
                &[Path(&[[0.0, -0.7], [0.7, 0.0], [0.0, 0.7], [-0.7, 0.0], [0.0, -0.7], [0.7, 0.0]])]
            }
            Self::AutoKey => &[
                Path(&[[0.0, -0.7], [0.7, 0.0], [0.0, 0.7], [-0.7, 0.0], [0.0, -0.7], [0.7, 0.0]]),
                Dot([0.0, 0.0], 0.2),
            ],
            Self::Record => &[Arc([0.0, 0.0], [0.75, 0.75], 0.0, 2.0 * PI), Dot([0.0, 0.0], 0.4)],
            Self::Wire => &[
                Path(&[[-0.8, 0.6], [0.0, -0.75], [0.8, 0.6], [-0.8, 0.6]]),
                Path(&[[-0.4, -0.08], [0.4, -0.08], [0.0, 0.6], [-0.4, -0.08]]),
            ],
            Self::Smooth => &[
                Path(&[[-0.8, 0.7], [-0.3, 0.7], [-0.3, 0.2], [0.2, 0.2], [0.2, -0.3], [0.7, -0.3]]),
                Path(&[[-0.8, 0.1], [0.1, -0.8]]),
            ],
            Self::Phong => &[
                Path(&[[-0.85, 0.55], [0.0, -0.65], [0.85, 0.55], [-0.85, 0.55]]),
                Arc([0.0, 0.55], [0.85, 1.2], PI, PI),
            ],
            Self::Binding => &[
                Path(&[[-0.6, -0.85], [-0.6, 0.85]]),
                Path(&[[-0.6, -0.6], [0.45, -0.6]]),
                Path(&[[-0.6, 0.0], [0.75, 0.0]]),
                Path(&[[-0.6, 0.6], [0.45, 0.6]]),
                Dot([0.45, -0.6], 0.14),
                Dot([0.75, 0.0], 0.14),
                Dot([0.45, 0.6], 0.14),
            ],
            Self::Crossings => &[
                Path(&[[-0.85, -0.5], [-0.2, -0.35], [0.35, 0.1], [0.5, 0.85]]),
                Path(&[[-0.85, 0.5], [-0.2, 0.35], [0.35, -0.1], [0.5, -0.85]]),
                Dot([0.12, 0.0], 0.2),
            ],
            Self::Turntable => &[
                Path(&[[0.0, -0.85], [0.0, 0.2]]),
                Dot([0.0, -0.75], 0.2),
                Arc([0.0, 0.35], [0.8, 0.36], -0.6, TAU - 1.2),
                Head([0.32, 0.03], -2.85),
            ],
            Self::Left => &[Arc([0.0, 0.15], [0.65, 0.65], 0.5, -PI - 0.6), Head([-0.72, 0.42], 1.9)],
            Self::Right => {
                &[Arc([0.0, 0.15], [0.65, 0.65], PI - 0.5, PI + 0.6), Head([0.72, 0.42], PI - 1.9)]
            }
            Self::Person => &[
                Dot([0.0, -0.62], 0.24),
                Path(&[[0.0, -0.3], [0.0, 0.25]]),
                Path(&[[-0.45, -0.15], [0.45, -0.15]]),
                Path(&[[-0.3, 0.85], [0.0, 0.25], [0.3, 0.85]]),
                Path(&[[0.75, -0.85], [0.75, 0.85]]),
                Path(&[[0.6, -0.85], [0.9, -0.85]]),
                Path(&[[0.6, 0.85], [0.9, 0.85]]),
            ],
            Self::Back => &[
                Path(&[[0.75, 0.6], [0.75, 0.0], [0.45, -0.3], [-0.7, -0.3]]),
                Head([-0.82, -0.3], PI),
                Dot([0.75, 0.72], 0.18),
            ],
            Self::Tilt => &[
                Path(&[[-0.8, 0.45], [0.8, -0.45]]),
                Path(&[[-0.8, 0.75], [0.8, 0.75]]),
                Arc([0.0, 0.0], [0.42, 0.42], -0.55, -2.0),
            ],
            Self::Save => &[
                Path(&[[0.0, -0.8], [0.0, 0.1]]),
                Head([0.0, 0.25], PI / 2.0),
                Path(&[[-0.75, 0.2], [-0.75, 0.75], [0.75, 0.75], [0.75, 0.2]]),
            ],
            Self::Export => &[
                Path(&[[0.0, 0.3], [0.0, -0.6]]),
                Head([0.0, -0.8], -PI / 2.0),
                Path(&[
                    [-0.35, -0.15],
                    [-0.75, -0.15],
                    [-0.75, 0.75],
                    [0.75, 0.75],
                    [0.75, -0.15],
                    [0.35, -0.15],
                ]),
            ],
            Self::Folder => &[Path(&[
                [-0.85, 0.6],
                [-0.85, -0.6],
                [-0.3, -0.6],
                [-0.1, -0.35],
                [0.85, -0.35],
                [0.85, 0.6],
                [-0.85, 0.6],
            ])],
            Self::Hand => &[
                Path(&[[-0.45, 0.0], [-0.45, -0.5]]),
                Path(&[[-0.15, -0.05], [-0.15, -0.8]]),
                Path(&[[0.15, -0.05], [0.15, -0.75]]),
                Path(&[[0.45, 0.0], [0.45, -0.5]]),
                Path(&[[-0.45, 0.0], [-0.45, 0.45], [-0.2, 0.8], [0.25, 0.8], [0.45, 0.45], [0.45, 0.0]]),
                Path(&[[-0.45, 0.4], [-0.85, 0.05]]),
            ],
            Self::Buzz => &[
                Path(&[[-0.25, -0.6], [0.25, -0.6], [0.25, 0.6], [-0.25, 0.6], [-0.25, -0.6]]),
                Path(&[[-0.55, -0.35], [-0.55, 0.35]]),
                Path(&[[0.55, -0.35], [0.55, 0.35]]),
                Path(&[[-0.85, -0.15], [-0.85, 0.15]]),
                Path(&[[0.85, -0.15], [0.85, 0.15]]),
            ],
            Self::Window => &[
                Path(&[[-0.85, -0.65], [0.85, -0.65], [0.85, 0.65], [-0.85, 0.65], [-0.85, -0.65]]),
                Path(&[[-0.85, -0.3], [0.85, -0.3]]),
            ],
            Self::Quit => {
                &[Path(&[[0.0, -0.85], [0.0, -0.1]]), Arc([0.0, 0.1], [0.7, 0.7], -PI / 2.0 + 0.6, TAU - 1.2)]
            }
            Self::Close => &[Path(&[[-0.55, -0.55], [0.55, 0.55]]), Path(&[[0.55, -0.55], [-0.55, 0.55]])],
            Self::Other => &[Path(&[[-0.4, -0.75], [0.35, 0.0], [-0.4, 0.75]])],
            Self::Up => &[Path(&[[-0.7, 0.1], [0.0, -0.6], [0.7, 0.1]]), Path(&[[0.0, -0.6], [0.0, 0.8]])],
            Self::Character => &[
                Dot([0.0, -0.6], 0.26),
                Path(&[[-0.65, -0.15], [0.65, -0.15]]),
                Path(&[[0.0, -0.3], [0.0, 0.3]]),
                Path(&[[-0.4, 0.9], [0.0, 0.3], [0.4, 0.9]]),
            ],
            Self::Project => &[
                Path(&[[-0.6, 0.85], [-0.6, -0.85], [0.25, -0.85], [0.6, -0.45], [0.6, 0.85], [-0.6, 0.85]]),
                Tinted(&[[-0.3, 0.5], [-0.1, 0.05], [0.3, -0.2]], RED),
            ],
            Self::Recover => &[
                Arc([0.0, 0.0], [0.75, 0.75], -2.2, TAU - 1.0),
                Head([-0.58, -0.48], -0.75),
                Path(&[[0.0, -0.4], [0.0, 0.05], [0.3, 0.25]]),
            ],
            Self::Warning => &[
                Path(&[[0.0, -0.8], [0.85, 0.7], [-0.85, 0.7], [0.0, -0.8]]),
                Path(&[[0.0, -0.3], [0.0, 0.2]]),
                Dot([0.0, 0.45], 0.09),
            ],
            Self::Fact => &[
                Arc([0.0, 0.0], [0.8, 0.8], 0.0, TAU),
                Path(&[[0.0, -0.1], [0.0, 0.45]]),
                Dot([0.0, -0.4], 0.09),
            ],
        }
    }

    /// Returns the icon of a message.
    pub(crate) fn of_notice(kind: NoticeKind) -> Self {
        match kind {
            NoticeKind::Problem => Self::Warning,
            NoticeKind::Fact => Self::Fact,
        }
    }

    /// Draws the icon around a point; `radius` is half the icon's side.
    pub(crate) fn draw(self, painter: &Painter, center: Pos2, radius: f32, color: Color32) {
        let at = |p: [f32; 2]| pos2(center.x + p[0] * radius, center.y + p[1] * radius);
        let width = (radius * 0.17).max(2.0);
        let faint = color == super::theme::FAINT;
        let line = |points: Vec<Pos2>, color| {
            // Discs at both ends give the line round caps.
            for p in [points.first(), points.last()].into_iter().flatten() {
                painter.circle_filled(*p, width * 0.5, color);
            }
            painter.add(Shape::line(points, Stroke::new(width, color)));
        };
        for mark in self.marks() {
            match *mark {
                Path(points) => line(points.iter().copied().map(at).collect(), color),
                Tinted(points, [r, g, b]) => {
                    let tint = if faint { color } else { Color32::from_rgb(r, g, b) };
                    line(points.iter().copied().map(at).collect(), tint);
                }
                Arc(middle, radii, from, turn) => {
                    let steps = (turn.abs() * 6.0).ceil().max(2.0) as usize;
                    let point = |i: usize| {
                        let (s, c) = (from + turn * i as f32 / steps as f32).sin_cos();
                        at([middle[0] + radii[0] * c, middle[1] + radii[1] * s])
                    };
                    line((0..=steps).map(point).collect(), color);
                }
                Dot(middle, r) => {
                    painter.circle_filled(at(middle), r * radius, color);
                }
                Head(tip, angle) => {
                    let wing = |side: f32| {
                        let (s, c) = (angle + PI + side).sin_cos();
                        at([tip[0] + 0.42 * c, tip[1] + 0.42 * s])
                    };
                    line(vec![wing(0.65), at(tip), wing(-0.65)], color);
                }
            }
        }
    }
}
