//! Test of the rendered image of each eye against rays cast at a ball.

use super::bed::{App, Runtime};
use sinew::app::report::Event;
use sinew::base::math::{Quat, Vec3};
use sinew::bind::shapes::Shape;
use sinew::puppet::Eye;
use sinew::render::{Occlusion, Shading};
use sinew::workbench::{Command, Rigid, Similarity, Tracking};

/// Radius of the ball, metres. `HEIGHT` is the height of the ball's centre, metres.
const RADIUS: f32 = 0.2;
const HEIGHT: f32 = 0.0005;

/// Returns the mean x of a disc's left silhouette over the rows above its centre `half`, and the mean y of its upper
/// silhouette over the columns left of its centre. The disc's lower right is in shadow and looks like the ground.
fn outline(size: [u32; 2], half: [u32; 2], covered: impl Fn(u32, u32) -> bool) -> [f64; 2] {
    let mean =
        |firsts: Vec<u32>| firsts.iter().map(|v| f64::from(*v)).sum::<f64>() / firsts.len().max(1) as f64;
    let rows = (0..half[1]).filter_map(|y| (0..size[0]).find(|x| covered(*x, y))).collect();
    let columns = (0..half[0]).filter_map(|x| (0..size[1]).find(|y| covered(x, *y))).collect();
    [mean(rows), mean(columns)]
}

/// Returns whether the ball covers a pixel of an eye, by a ray cast through the pixel's centre.
fn hits(world_from_room: &Similarity, head: &Rigid, eye: &Eye, size: [u32; 2], x: u32, y: u32) -> bool {
    let [left, right, up, down] = eye.fov.map(f32::tan);
    let [s, t] = [(x as f32 + 0.5) / size[0] as f32, (y as f32 + 0.5) / size[1] as f32];
    let local = Vec3::new(left + (right - left) * s, up + (down - up) * t, -1.0).normalize();
    let orientation = head.orientation * eye.pose.orientation;
    let origin = world_from_room.point(head.point(eye.pose.position));
    let ray = world_from_room.direction(orientation * local);
    let to = Vec3::Y * HEIGHT - origin;
    let along = to.dot(ray);
    along > 0.0 && to.length_squared() - along * along < RADIUS * RADIUS
}

#[test]
fn both_eyes_see_a_ball_where_their_poses_and_fields_of_view_put_it() {
    let Some(runtime) = Runtime::start() else { return };
    let ball = Shape { bones: 1, rings: 40, segments: 48, radius: RADIUS, length: 2.0 * HEIGHT, blend: 0.0 };
    let glb = sinew::export::unedited(&ball.capsule_asset()).unwrap();
    std::fs::write(runtime.path("ball.glb"), glb).unwrap();
    let mut puppet = runtime.puppet();
    // The eyes have different poses and fields of view, so that symmetry cannot hide an error.
    let eye = |x: f32, turn: f32, fov| Eye {
        fov,
        pose: Rigid { position: Vec3::new(x, 0.01, -0.005), orientation: Quat::from_rotation_y(turn) },
    };
    let eyes = [eye(-0.04, 0.05, [-0.8, 0.6, 0.5, -0.7]), eye(0.03, -0.02, [-0.55, 0.75, 0.6, -0.65])];
    puppet.state.views = Some(eyes);
    puppet.state.head.orientation = Quat::from_rotation_y(0.1) * Quat::from_rotation_x(-0.2);
    for hand in &mut puppet.state.hands {
        hand.pose.position = Vec3::new(0.0, 1.0, 2.0);
    }
    puppet.send().unwrap();
    let mut app = App::start(&runtime, &["ball.glb", "--forget"]);
    app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
    app.until_frame(3000, "focused", |f| {
        f.state == "FOCUSED" && f.rendered && f.tracking == [Tracking::Tracked; 2]
    });
    if app.frame.palette {
        app.press(Command::Palette);
    }
    // The outline covers pixels at the edge of the ball.
    app.press(Command::Outline(false));
    let mut head = puppet.state.head;
    // The head looks straight at the ball.
    let centre = app.frame.world_from_room.inverse_point(Vec3::Y * HEIGHT);
    let down = (head.position.y - centre.y).atan2(-centre.z);
    head.orientation = Quat::from_rotation_x(-down) * Quat::from_rotation_z(0.05);
    puppet.state.head = head;
    puppet.send().unwrap();
    app.until_frame(300, "looking at the ball", |f| {
        f.head.orientation.angle_between(head.orientation) < 1e-3
    });
    app.frames(3);
    // The ball is white on a grey background. The ball appears a few frames after loading.
    let white = |pixel: &image::Rgb<u8>| pixel.0.iter().all(|v| *v > 190);
    let (mut picture, mut tries) = (app.picture("ball"), 0);
    while !picture.pixels().any(white) && tries < 50 {
        app.frames(5);
        (picture, tries) = (app.picture("ball"), tries + 1);
    }
    let size = [picture.width() / 2, picture.height()];
    let mut off = Vec::new();
    for (i, eye) in eyes.iter().enumerate() {
        let shown = |x: u32, y: u32| white(picture.get_pixel(x + i as u32 * size[0], y));
        let wanted = |x, y| hits(&app.frame.world_from_room, &head, eye, size, x, y);
        let inside: Vec<[u32; 2]> = (0..size[1])
            .flat_map(|y| (0..size[0]).map(move |x| [x, y]))
            .filter(|p| wanted(p[0], p[1]))
            .collect();
        assert!(inside.len() > 500, "eye {i} does not look at the ball");
        let middle = [0, 1].map(|k| inside.iter().map(|p| p[k]).sum::<u32>() / inside.len() as u32);
        let (seen, expected) = (outline(size, middle, shown), outline(size, middle, wanted));
        println!("eye {i}: outline at {seen:?}, expected {expected:?}");
        off.push([seen[0] - expected[0], seen[1] - expected[1]]);
        assert!(off[i].iter().all(|d| d.abs() < 0.5), "eye {i} is {:?} pixels off", off[i]);
    }
    assert!((off[0][0] - off[1][0]).abs() < 0.5, "the disparity is wrong: {off:?}");
    larger_pictures(&mut app, &picture, white);
    app.quit();
    assert_eq!(runtime.findings(), "");
}

/// Checks that pictures of another size show the same, and presses the other options of the display.
fn larger_pictures(app: &mut App, picture: &image::RgbImage, white: impl Fn(&image::Rgb<u8>) -> bool) {
    let share = |p: &image::RgbImage| {
        p.pixels().filter(|pixel| white(pixel)).count() as f64 / f64::from(p.width() * p.height())
    };
    app.press(Command::RenderScale(1.5));
    let mut larger = app.picture("larger");
    for _ in 0..50 {
        if larger.width() > picture.width() {
            break;
        }
        app.frames(5);
        larger = app.picture("larger");
    }
    assert_eq!([larger.width() * 2, larger.height() * 2], [picture.width() * 3, picture.height() * 3]);
    let [wanted, seen] = [share(picture), share(&larger)];
    assert!((seen / wanted - 1.0).abs() < 0.05, "the ball covers {seen}, not {wanted} of the picture");
    // Each option is accepted where the runtime has it and ignored elsewhere.
    for command in [
        Command::HiddenArea(false),
        Command::Passthrough(true),
        Command::RefreshRate(Some(60.0)),
        Command::RefreshRate(None),
        Command::Shading(Shading::Clay),
        Command::Occlusion(Occlusion::On),
        Command::HiddenArea(true),
    ] {
        app.press(command);
    }
    let clay = app.picture("clay");
    assert!(share(&clay) < 0.5 * seen, "clay is darker than the white ball");
    app.frames(3);
}
