//! What the commands share: the device, made when first needed, and progress on the terminal.

use crate::base::{Error, Result};
use crate::deform::Kernels;
use crate::gpu::{Device, DeviceOptions};
use crate::render::Renderer;
use crate::scene::Where;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Once, OnceLock};
use std::time::{Duration, Instant};

/// The devices and pipelines of one run.
#[derive(Default)]
pub struct Context {
    /// Part of the wanted device's name.
    pub device_name: Option<String>,
    device: Option<Arc<Device>>,
    kernels: Option<Arc<Kernels>>,
    renderer: Option<Arc<Renderer>>,
}

impl Context {
    /// A run on the device whose name contains this, or on the best one.
    pub fn new(device_name: Option<String>) -> Self {
        Self { device_name, ..Self::default() }
    }

    /// The device; an error where Vulkan or the named device is missing.
    pub fn device(&mut self) -> Result<Arc<Device>> {
        if self.device.is_none() {
            let options = DeviceOptions { name: self.device_name.clone(), validation: false };
            self.device = Some(Device::new(&options)?);
        }
        self.device.clone().ok_or_else(|| Error::gpu("no device", "install a Vulkan driver"))
    }

    /// The deformers' stages.
    pub fn kernels(&mut self) -> Result<Arc<Kernels>> {
        if self.kernels.is_none() {
            self.kernels = Some(Arc::new(Kernels::new(&self.device()?)?));
        }
        self.kernels.clone().ok_or_else(|| Error::gpu("no device", "install a Vulkan driver"))
    }

    /// The renderer.
    pub fn renderer(&mut self) -> Result<Arc<Renderer>> {
        if self.renderer.is_none() {
            self.renderer = Some(Arc::new(Renderer::new(&self.device()?)?));
        }
        self.renderer.clone().ok_or_else(|| Error::gpu("no device", "install a Vulkan driver"))
    }

    /// `gpu` or `cpu`; without a choice the GPU.
    pub fn side(&mut self, cpu: bool) -> Result<Where> {
        Ok(if cpu { Where::Cpu } else { Where::Gpu(self.kernels()?) })
    }
}

/// Runs a stage with a spinner that appears after a second, and says what it took.
pub fn stage<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<(T, Duration)> {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    let start = Instant::now();
    let out = work();
    bar.finish_and_clear();
    Ok((out?, start.elapsed()))
}

/// Why a line could not be printed, the first time.
static UNSAID: OnceLock<std::io::Error> = OnceLock::new();

/// Prints a line. A reader that has gone away, as in `sinew demo | head`, is no reason to stop working. Any other
/// failure does not stop the work either; [`said`] tells it at the end.
pub fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = UNSAID.set(error);
    }
}

/// Whether all that was printed by [`say`] has arrived.
///
/// # Errors
/// The operating system's: the disk is full that standard output goes to.
pub fn said() -> Result<()> {
    UNSAID.get().map_or(Ok(()), |error| {
        Err(Error::input(
            format!("standard output: {error}; not all results were printed"),
            "print to another place; files that were written are whole",
        ))
    })
}

/// A duration for people: `3.1 ms`, `2.45 s`.
pub fn human(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// Samples per pixel that are chosen, or else that smooth edges need or not; as many as the device has. That it has too few
/// is said once.
pub fn wanted_samples(device: &Device, chosen: Option<u32>, smooth: bool) -> u32 {
    static SAID: Once = Once::new();
    let wanted = chosen.unwrap_or(if smooth { 4 } else { 1 });
    let possible = device.samples(wanted);
    if possible < wanted {
        SAID.call_once(|| {
            eprintln!(
                "sinew: {} cannot draw {wanted} samples per pixel: edges are not smooth",
                device.name()
            );
        });
    }
    possible
}

/// Writes a picture whole or not at all; makes its folder.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_png(path: &Path, picture: &image::RgbaImage) -> Result<()> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).map_err(|e| {
        Error::input(format!("{}: cannot encode the picture: {e}", path.display()), "choose a smaller --size")
    })?;
    folder_of(path)?;
    crate::export::write_atomically(path, bytes.get_ref())
}

/// Makes the folder of a file that should be written.
///
/// # Errors
/// Where it cannot be made.
pub fn folder_of(file: &Path) -> Result<()> {
    file.parent().map_or(Ok(()), folder)
}

/// Makes an output folder.
///
/// # Errors
/// Where it cannot be made.
pub fn folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|e| Error::io(path, e))
}
