//! What each eye sees.

use super::bed::{App, Runtime};
use sinew::base::math::{Quat, Vec3};
use sinew::bind::shapes::Shape;
use sinew::editor::{Command, Rigid, Similarity, Tracking};
use sinew::front::puppet::Eye;
use sinew::front::report::Event;

/// Radius of the ball, metres, and its centre's height.
const RADIUS: f32 = 0.2;
const HEIGHT: f32 = 0.0005;

/// The middle of the pixels that a mask covers, and their number.
fn middle(size: [u32; 2], covered: impl Fn(u32, u32) -> bool) -> ([f64; 2], usize) {
    let (mut sum, mut count) = ([0.0; 2], 0);
    for y in 0..size[1] {
        for x in 0..size[0] {
            if covered(x, y) {
                sum = [sum[0] + f64::from(x) + 0.5, sum[1] + f64::from(y) + 0.5];
                count += 1;
            }
        }
    }
    (sum.map(|s| s / count.max(1) as f64), count)
}

/// Whether the ball covers a pixel of an eye, by its own geometry: a ray through the pixel's middle.
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
    // Two unlike eyes: nothing may come out right by symmetry.
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
    app.until(3000, "focused", |f| {
        f.state == "FOCUSED" && f.rendered && f.tracking == [Tracking::Tracked; 2]
    });
    if app.frame.palette {
        app.press(Command::Palette);
    }
    let mut head = puppet.state.head;
    // Straight at the ball.
    let centre = app.frame.world_from_room.inverse_point(Vec3::Y * HEIGHT);
    let down = (head.position.y - centre.y).atan2(-centre.z);
    head.orientation = Quat::from_rotation_x(-down) * Quat::from_rotation_z(0.05);
    puppet.state.head = head;
    puppet.send().unwrap();
    app.until(300, "looking at the ball", |f| f.head.orientation.angle_between(head.orientation) < 1e-3);
    app.frames(3);
    let (mut picture, mut tries) = (app.picture("ball"), 0);
    // The character is shown a little after it is loaded.
    while super::stage::covered(&picture).contains(&0) && tries < 50 {
        app.frames(5);
        (picture, tries) = (app.picture("ball"), tries + 1);
    }
    let size = [picture.width() / 2, picture.height()];
    let mut off = Vec::new();
    for (i, eye) in eyes.iter().enumerate() {
        let ground = *picture.get_pixel(0, 0);
        let shown = |x: u32, y: u32| {
            let pixel = picture.get_pixel(x + i as u32 * size[0], y);
            (0..3).map(|k| (i32::from(pixel[k]) - i32::from(ground[k])).abs()).sum::<i32>() > 60
        };
        let wanted = |x, y| hits(&app.frame.world_from_room, &head, eye, size, x, y);
        let ((seen, n), (expected, m)) = (middle(size, shown), middle(size, wanted));
        println!("eye {i}: {n} pixels about {seen:?}, expected {m} about {expected:?}");
        assert!(n.abs_diff(m) < m / 20, "eye {i}: {n} pixels, expected {m}");
        off.push([seen[0] - expected[0], seen[1] - expected[1]]);
        assert!(off[i].iter().all(|d| d.abs() < 0.5), "eye {i} is {:?} pixels off", off[i]);
    }
    assert!((off[0][0] - off[1][0]).abs() < 0.5, "the disparity is wrong: {off:?}");
    app.quit();
    assert_eq!(runtime.findings(), "");
}
