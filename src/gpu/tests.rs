//! Tests on a real device: upload, dispatch, barrier, timing and readback, without validation messages.

use super::testing::{assert_silent, device};
use super::*;
use crate::shared_with_shaders;
use std::sync::Arc;

shared_with_shaders! {
    struct Push as "Push" {
        count: u32,
        factor: f32,
    }
}

fn scale_twice(device: &Arc<Device>) {
    let count = 1000u32;
    let data: Vec<[f32; 3]> = (0..count).map(|i| [i as f32, 0.5, -(i as f32)]).collect();
    let source = Buffer::from_slice(device, "source", &data).unwrap();
    let middle = Buffer::zeroed::<[f32; 3]>(device, "middle", data.len()).unwrap();
    let target = Buffer::zeroed::<[f32; 3]>(device, "target", data.len()).unwrap();
    let scale = Compute::new(device, crate::spv!("test/scale.comp"), &[]).unwrap();
    let first = scale.bind(&[("source", &source), ("target", &middle)]).unwrap();
    let second = scale.bind(&[("source", &middle), ("target", &target)]).unwrap();
    let timings = device
        .run(|frame| {
            frame.phase("first");
            frame.dispatch(&scale, &first, &Push { count, factor: 3.0 }, count);
            frame.phase("second");
            frame.dispatch(&scale, &second, &Push { count, factor: 2.0 }, count);
            Ok(())
        })
        .unwrap();
    let names: Vec<_> = timings.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["first", "second"]);
    assert!(timings.iter().all(|(_, time)| !time.is_zero()), "{timings:?}");
    let got = device.read::<[f32; 3]>(&target, data.len()).unwrap();
    for (got, put) in got.iter().zip(&data) {
        assert_eq!(*got, put.map(|v| 6.0 * v));
    }
}

#[test]
fn upload_dispatch_barrier_time_and_read_back() {
    let Some(device) = device() else { return };
    scale_twice(&device);
    assert_silent(&device);
}

#[test]
fn a_device_leaves_nothing_behind() {
    if device().is_none() {
        return;
    }
    let device = Device::new(&DeviceOptions { name: None, validation: true }).unwrap();
    scale_twice(&device);
    assert_silent(&device);
    // The validation layer would report leaked objects to stderr, which this test does not read. The test only checks
    // that the device has no other owners.
    assert_eq!(Arc::strong_count(&device), 1);
}

#[test]
fn an_unknown_device_is_an_error_that_lists_what_there_is() {
    let Some(device) = device() else { return };
    let error =
        Device::new(&DeviceOptions { name: Some("no such device".into()), validation: false }).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no such device") && text.contains(device.name()), "{text}");
}

#[test]
fn wrong_names_and_sizes_are_errors() {
    let Some(device) = device() else { return };
    let buffer = Buffer::zeroed::<[f32; 3]>(&device, "b", 10).unwrap();
    let scale = Compute::new(&device, crate::spv!("test/scale.comp"), &[]).unwrap();
    let text = |r: crate::base::Result<Bindings>| r.err().unwrap().to_string();
    assert!(text(scale.bind(&[("source", &buffer)])).contains("\"target\" is not bound"));
    assert!(text(scale.bind(&[("source", &buffer), ("sink", &buffer)])).contains("no binding \"sink\""));
    let good = scale.bind(&[("source", &buffer), ("target", &buffer)]).unwrap();
    let run = device.run(|frame| {
        frame.dispatch(&scale, &good, &1u32, 10);
        Ok(())
    });
    assert!(run.unwrap_err().to_string().contains("4 bytes of push constants given, 8 expected"));
    let copy = device.run(|frame| {
        frame.copy(&buffer, &buffer, 1 << 20);
        Ok(())
    });
    assert!(copy.is_err());
    assert!(device.read::<u8>(&buffer, 1000).is_err());
    assert_silent(&device);
}

#[test]
fn frames_in_flight_keep_dropped_objects_alive_and_read_back_in_order() {
    let Some(device) = device() else { return };
    let mut frames = Frames::new(&device, 2);
    let mut readback = Readback::<u32>::new(&device, 8, 16).unwrap();
    let mut got = Vec::new();
    for i in 0..6u32 {
        let mut frame = frames.begin().unwrap();
        let short_lived = Buffer::new(&device, "short lived", 16, Memory::Device).unwrap();
        frame.phase("write");
        frame.upload(&short_lived, 0, &[i, i * 2, i * 3, i * 4]);
        frame.phase("read");
        assert!(readback.record(&mut frame, &short_lived, 0, 16, i));
        drop(short_lived);
        frames.submit(frame, &Semaphores::default()).unwrap();
        while let Some(result) = readback.poll().unwrap() {
            got.push(result);
        }
    }
    device.wait_idle().unwrap();
    while let Some(result) = readback.poll().unwrap() {
        got.push(result);
    }
    for (i, (tag, bytes)) in got.iter().enumerate() {
        let i = i as u32;
        assert_eq!((*tag, bytemuck::pod_read_unaligned::<[u32; 4]>(bytes)), (i, [i, i * 2, i * 3, i * 4]));
    }
    assert_eq!(got.len(), 6);
    assert_eq!(frames.timings().len(), 2);
    assert_silent(&device);
}

#[test]
fn a_missing_barrier_is_heard_so_silence_means_something() {
    if device().is_none() {
        return;
    }
    let device = Device::new(&DeviceOptions { name: None, validation: true }).unwrap();
    let (a, b) = (
        Buffer::zeroed::<u32>(&device, "a", 64).unwrap(),
        Buffer::new(&device, "b", 256, Memory::Device).unwrap(),
    );
    let hazard = |with_barrier: bool| {
        device
            .run(|frame| {
                frame.fill(&a, 1);
                if with_barrier {
                    frame.barrier();
                }
                frame.copy(&a, &b, 256);
                Ok(())
            })
            .unwrap();
        device.validation_messages().len()
    };
    assert_eq!(hazard(true), 0);
    assert!(hazard(false) > 0);
}
