//! A window editor on a table: mouse, keys and ray casts that answer picks.

use super::*;

/// A window editor with a workbench and its next input.
pub struct Table {
    pub desk: WindowEditor,
    pub bench: Workbench,
    pub input: WindowInput,
    /// The pick requested in the last frame.
    pub asked: Option<Pick>,
}

impl Table {
    pub fn new() -> Self {
        Self::with(biped())
    }

    pub fn with(character: std::sync::Arc<crate::bind::Character>) -> Self {
        let bench = Workbench::new(session(&character), character, Preferences::default());
        let input = WindowInput { size: SIZE, scale: 1.0, focused: true, ..WindowInput::default() };
        let mut table = Self { desk: WindowEditor::new(Choices::default()), bench, input, asked: None };
        table.frames(2);
        table.key(Key::Num1, Modifiers::NONE);
        table
    }

    /// Runs a frame with the gathered events.
    pub fn frame(&mut self) {
        self.input.time += 1.0 / 60.0;
        let picked = self.asked.take().map(|pick| Picked { pick, surface: self.skin(&pick) });
        self.input.picked = picked;
        self.desk.step(&self.input, Some(&mut self.bench));
        self.asked = self.desk.output().pick;
        self.input.events.clear();
    }

    pub fn frames(&mut self, count: usize) {
        (0..count).for_each(|_| self.frame());
    }

    /// Returns the skin on the nearest triangle that the ray through a pixel hits. Sculpt layers displace the skin as in
    /// the bind pose.
    pub fn skin(&self, pick: &Pick) -> Option<SurfaceSample> {
        let [x, y, ..] = self.desk.output.viewport.map(|v| v as f32);
        let at = [x + pick.pixel[0] as f32 + 0.5, y + pick.pixel[1] as f32 + 0.5];
        let (eyepiece, _) = self.desk.eyepiece(at);
        let (from, direction) = eyepiece.ray(at);
        let character = self.bench.character();
        let offset = |v: usize| -> Vec3 {
            let layers = self.bench.sculpts().filter_map(|s| {
                let k = s.region.kinematic.iter().position(|k| *k as usize == v)?;
                let Form::Drawn(offsets) = &s.form else { return None };
                Some(Vec3::from(offsets[k]))
            });
            layers.sum()
        };
        let mut best: Option<(f32, SurfaceSample)> = None;
        for (i, corners) in character.display.triangles.iter().enumerate() {
            let [a, b, c] = corners.map(|v| {
                let x = character.display.positions[v as usize];
                let vertex = character.display.control_of[v as usize] as usize;
                let joint = character.control.influences.of(vertex).next().unwrap().0;
                self.bench.rig().skinning[usize::from(joint)].transform_point3(x + offset(vertex))
            });
            if let Some((t, barycentrics)) = ray_triangle(from, direction, [a, b, c])
                && best.is_none_or(|b| t < b.0)
            {
                let sample = SurfaceSample {
                    triangle: i as u32,
                    barycentrics,
                    position: from + direction * t,
                    normal: (b - a).cross(c - a).normalize(),
                    time: pick.time,
                    draw: pick.draw,
                };
                best = Some((t, sample));
            }
        }
        best.map(|b| b.1)
    }

    pub fn joint(&self, node: usize) -> Vec3 {
        self.bench.rig().world[node].translation.into()
    }

    /// Projects a world point to a pixel.
    pub fn pixel(&self, point: Vec3) -> [f32; 2] {
        self.desk.eyepiece([640.0, 400.0]).0.project(point).unwrap()
    }

    pub fn to(&mut self, at: [f32; 2]) {
        self.input.events.push(Event::PointerMoved(pos2(at[0], at[1])));
        self.frame();
    }

    pub fn button(&mut self, button: PointerButton, pressed: bool) {
        let pos = self.desk.at.unwrap();
        let pos = pos2(pos[0], pos[1]);
        let modifiers = self.desk.modifiers;
        self.input.events.push(Event::PointerButton { pos, button, pressed, modifiers });
        self.frame();
    }

    pub fn drag(&mut self, button: PointerButton, through: &[[f32; 2]]) {
        self.to(through[0]);
        self.frames(2);
        self.button(button, true);
        self.frames(2);
        through.iter().for_each(|at| self.to(*at));
        self.frames(2);
        self.button(button, false);
        self.frames(12);
    }

    pub fn key(&mut self, key: Key, modifiers: Modifiers) {
        self.input.events.push(Event::ModifiersChanged(modifiers));
        let event = |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
        self.input.events.extend([event(true), event(false), Event::ModifiersChanged(Modifiers::NONE)]);
        self.frame();
    }

    pub fn hash(&self) -> String {
        self.bench.session().document().hash()
    }

    /// Returns pixels along the straight left arm, rotated up by an angle in radians.
    pub fn arm(&self, angle: f32) -> Vec<[f32; 2]> {
        let shoulder = Vec3::new(0.2, 1.5, 0.0);
        let turn = crate::base::math::Quat::from_rotation_z(angle);
        (0..20).map(|i| self.pixel(shoulder + turn * Vec3::X * (0.55 * i as f32 / 19.0))).collect()
    }
}
