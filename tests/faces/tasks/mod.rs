//! Ten tasks of an animator, each done in the headset by the scripted hands of a seated person and in the window by mouse
//! and keys. The tasks find buttons and sliders by the texts that the program shows. Both tests print the frames and
//! presses of each task, and check the same outcomes on the saved documents.

mod characters;
mod first;
mod headset;
mod outcomes;
mod window;

/// What a task took: rendered frames, and presses of buttons, triggers and keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    pub frames: u64,
    pub presses: u32,
}

/// The tasks in order, with the most presses that each may take in the headset and in the window.
pub const TASKS: [(&str, [u32; 2]); 10] = [
    ("pose an arm by strokes", [2, 2]),
    ("correct a wrist", [2, 6]),
    ("pin and lean", [5, 6]),
    ("ring and bulge keyed", [10, 8]),
    ("tune the flesh", [3, 1]),
    ("a face keyed", [7, 5]),
    ("a walk of four keys retimed", [16, 15]),
    ("a clip layered", [5, 5]),
    ("compare and choose a method", [2, 3]),
    ("recover after a kill and export", [2, 3]),
];

/// Checks that no task took more presses than allowed, and prints the table.
pub fn compare(face: usize, efforts: &[Effort]) {
    for ((name, most), effort) in TASKS.iter().zip(efforts) {
        println!("{name}: {} frames, {} presses", effort.frames, effort.presses);
        assert!(effort.presses <= most[face], "{name}: {} presses, at most {}", effort.presses, most[face]);
    }
    assert_eq!(efforts.len(), TASKS.len(), "a task is missing");
}
