//! Loads the factors of the LBS-DQS blend: from the file's vertex colours, or from an image.

use super::Model;
use crate::asset::limits;
use crate::base::{Error, Result};
use crate::bind::Character;
use crate::deform::blend::Painted;
use image::{ImageReader, Limits, RgbaImage};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where blend factors come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorSource {
    /// The red channel of the file's vertex colours (`COLOR_0`).
    Colors,
    /// The red channel of an image, over the first texture coordinates.
    Image(PathBuf),
    /// The image `NAME.blend.png` beside the character `NAME.glb`.
    Beside,
}

impl Model {
    /// Loads blend factors: 0 is LBS, 1 is DQS. A control vertex gets the mean of its display vertices. Reads a file, so
    /// call it on a background thread.
    ///
    /// # Errors
    /// The file has no vertex colours or texture coordinates, or the image cannot be read.
    pub fn blend_factors(&self, source: &FactorSource) -> Result<Painted> {
        let character = &self.bound.character;
        match source {
            FactorSource::Colors => of_colors(character).map_err(|e| self.named(e)),
            FactorSource::Image(path) => of_image(character, &read(path)?),
            FactorSource::Beside => {
                let path = self.asset.path.with_extension("blend.png");
                of_image(character, &read(&path)?)
            }
        }
    }
}

fn read(path: &Path) -> Result<RgbaImage> {
    let bad = |why: String| {
        let remedy = "give a PNG, JPEG or WebP image whose red channel is the share of DQS";
        Error::input(format!("{}: {why}", path.display()), remedy)
    };
    let opened = ImageReader::open(path).and_then(ImageReader::with_guessed_format);
    let mut reader = opened.map_err(|e| bad(e.to_string()))?;
    let mut most = Limits::default();
    most.max_alloc = Some(8 * limits::IMAGE_PIXELS);
    reader.limits(most);
    Ok(reader.decode().map_err(|e| bad(e.to_string()))?.into_rgba8())
}

fn of_colors(character: &Character) -> Result<Painted> {
    let colors = &character.display.colors;
    if colors.len() != character.display.positions.len() || colors.is_empty() {
        return Err(Error::input("the file has no vertex colours", "paint some, or load an image"));
    }
    Ok(mean(character, |v| colors[v].x))
}

fn of_image(character: &Character, image: &RgbaImage) -> Result<Painted> {
    let uvs = &character.display.uvs;
    if uvs.len() != character.display.positions.len() || image.width() == 0 || image.height() == 0 {
        return Err(Error::input(
            "the file has no texture coordinates",
            "load the factors from vertex colours",
        ));
    }
    Ok(mean(character, |v| bilinear(image, uvs[v].to_array())))
}

/// The red channel at texture coordinates, 0..=1. The image repeats.
fn bilinear(image: &RgbaImage, uv: [f32; 2]) -> f32 {
    let size = [image.width(), image.height()];
    // Texture coordinates of pixel centres are at half pixels.
    let at = [0, 1].map(|i| {
        let x = if uv[i].is_finite() { uv[i].rem_euclid(1.0) * size[i] as f32 - 0.5 } else { 0.0 };
        (x.floor(), x - x.floor())
    });
    let pixel = |dx: i64, dy: i64| {
        let place = [(at[0].0 as i64 + dx, size[0]), (at[1].0 as i64 + dy, size[1])];
        let [x, y] = place.map(|(p, n)| p.rem_euclid(i64::from(n)) as u32);
        f32::from(image.get_pixel(x, y).0[0]) / 255.0
    };
    let row = |dy| pixel(0, dy) + (pixel(1, dy) - pixel(0, dy)) * at[0].1;
    row(0) + (row(1) - row(0)) * at[1].1
}

/// Mean of a value of the display vertices over each control vertex.
fn mean(character: &Character, value: impl Fn(usize) -> f32) -> Painted {
    let mut sums = vec![(0.0f32, 0.0f32); character.control.positions.len()];
    for (v, &control) in character.display.control_of.iter().enumerate() {
        let sum = &mut sums[control as usize];
        *sum = (sum.0 + value(v), sum.1 + 1.0);
    }
    Painted::new(sums.into_iter().map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Vec2, Vec4};
    use crate::bind::shapes::capsule;
    use image::Rgba;

    #[test]
    fn factors_come_from_colours_and_images() {
        let mut character = capsule(2, 8, 12, 0.2, 1.0);
        let count = character.display.positions.len();
        character.display.colors = Vec::new();
        assert!(of_colors(&character).unwrap_err().to_string().contains("vertex colours"));
        let share = |y: f32| y.clamp(0.0, 1.0);
        character.display.colors =
            character.display.positions.iter().map(|x| Vec4::new(share(x.y), 0.3, 0.3, 1.0)).collect();
        let colors = of_colors(&character).unwrap();
        assert_eq!(colors.len(), character.control.positions.len());
        // A ramp over v, with 64 pixels; texture coordinates repeat.
        let ramp = RgbaImage::from_fn(2, 64, |_, y| Rgba([(y as f32 * 255.0 / 63.0) as u8, 0, 0, 255]));
        character.display.uvs = character
            .display
            .positions
            .iter()
            .map(|x| Vec2::new(x.x + 3.0, 0.5 + 0.4 * (share(x.y) - 0.5)))
            .collect();
        let image = of_image(&character, &ramp).unwrap();
        for (v, x) in character.control.positions.iter().enumerate() {
            assert!((colors.get(v).unwrap() - share(x.y)).abs() < 3e-3);
            let v_of = 0.5 + 0.4 * (share(x.y) - 0.5);
            let wanted = (v_of * 64.0 - 0.5) / 63.0;
            assert!((image.get(v).unwrap() - wanted).abs() < 8e-3, "{:?} {wanted}", image.get(v));
        }
        assert_eq!(character.display.uvs.len(), count);
        character.display.uvs.clear();
        assert!(of_image(&character, &ramp).unwrap_err().to_string().contains("texture coordinates"));
        let error = read(Path::new("/nowhere/x.png")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/x.png") && error.contains("PNG"), "{error}");
    }
}
