//! State that the commands share: a GPU device that is created on first use, and progress output on the terminal.

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

/// The GPU device and the pipelines of one run of the program, each created on first use.
#[derive(Default)]
pub struct Context {
    /// Substring of the name of the GPU to use; `None` selects the best GPU.
    pub device_name: Option<String>,
    device: Option<Arc<Device>>,
    kernels: Option<Arc<Kernels>>,
    renderer: Option<Arc<Renderer>>,
}

impl Context {
    /// Creates a context. The first use of the device creates the device. `None` as `device_name` selects the best GPU.
    pub fn new(device_name: Option<String>) -> Self {
        Self { device_name, ..Self::default() }
    }

    /// Returns the device and creates it on first use. Fails if Vulkan is missing or no GPU has the requested name.
    pub fn device(&mut self) -> Result<Arc<Device>> {
        if self.device.is_none() {
            let options = DeviceOptions { name: self.device_name.clone(), validation: false };
            self.device = Some(Device::new(&options)?);
        }
        self.device.clone().ok_or_else(|| Error::gpu("no device", "install a Vulkan driver"))
    }

    /// Returns the compute pipelines of the deformers and creates them on first use.
    pub fn kernels(&mut self) -> Result<Arc<Kernels>> {
        if self.kernels.is_none() {
            self.kernels = Some(Arc::new(Kernels::new(&self.device()?)?));
        }
        self.kernels.clone().ok_or_else(|| Error::gpu("no device", "install a Vulkan driver"))
    }

    /// Returns the renderer and creates it on first use.
    pub fn renderer(&mut self) -> Result<Arc<Renderer>> {
        if self.renderer.is_none() {
            self.renderer = Some(Arc::new(Renderer::new(&self.device()?)?));
        }
        self.renderer.clone().ok_or_else(|| Error::gpu("no device", "install a Vulkan driver"))
    }

    /// Returns where deformers are evaluated: on the CPU if `cpu` is set, on the GPU otherwise.
    pub fn side(&mut self, cpu: bool) -> Result<Where> {
        Ok(if cpu { Where::Cpu } else { Where::Gpu(self.kernels()?) })
    }
}

/// Runs `work` and returns its result and duration. A terminal spinner shows `name` until `work` ends.
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

/// Runs `work` and returns its result and duration. A terminal bar shows `name` and the fraction that `work` reports.
pub fn progress<T>(
    name: &str,
    work: impl FnOnce(&(dyn Fn(f32) + Sync)) -> Result<T>,
) -> Result<(T, Duration)> {
    const PARTS: u64 = 1000;
    let bar = ProgressBar::new(PARTS);
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {percent} % {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    let start = Instant::now();
    let out = work(&|part| bar.set_position((part.clamp(0.0, 1.0) * PARTS as f32) as u64));
    bar.finish_and_clear();
    Ok((out?, start.elapsed()))
}

/// The first error that [`say`] met while writing to standard output.
static UNSAID: OnceLock<std::io::Error> = OnceLock::new();

/// Prints a line to standard output. A closed pipe, as in `sinew demo | head`, is ignored. After any other error the
/// program continues as well, and [`said`] returns the error at the end.
pub fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = UNSAID.set(error);
    }
}

/// Checks that every line printed by [`say`] was written.
///
/// # Errors
/// The first I/O error of standard output, e.g. a full disk.
pub fn said() -> Result<()> {
    UNSAID.get().map_or(Ok(()), |error| {
        Err(Error::input(
            format!("standard output: {error}; not all results were printed"),
            "print to another place; files that were written are whole",
        ))
    })
}

/// Formats a duration: `3.1 ms`, `2.45 s`.
pub fn human(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// Returns the number of samples per pixel to render with: `chosen`, or else 4 if `smooth` is set and 1 if not. The
/// device limits this number. The first time that the limit lowers the number, the function prints a warning.
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

/// Writes `picture` as a PNG file, atomically, and creates the parent folder.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write_png(path: &Path, picture: &image::RgbaImage) -> Result<()> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).map_err(|e| {
        Error::input(format!("{}: cannot encode the picture: {e}", path.display()), "choose a smaller --size")
    })?;
    folder_of(path)?;
    crate::export::write_atomically(path, bytes.get_ref())
}

/// Creates the parent folder of `file`.
///
/// # Errors
/// Fails if the folder cannot be created.
pub fn folder_of(file: &Path) -> Result<()> {
    file.parent().map_or(Ok(()), folder)
}

/// Creates an output folder and its parents.
///
/// # Errors
/// Fails if the folder cannot be created.
pub fn folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|e| Error::io(path, e))
}
