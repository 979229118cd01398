//! Loads the factors of the method `blend` (each vertex's share of dual quaternion skinning): from the file's vertex
//! colours, or from an image.

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
            FactorSource::Colors => {
                let mut primitives = self.asset.meshes.iter().flat_map(|m| &m.primitives);
                if primitives.all(|p| p.colors.is_empty()) {
                    let none = Error::input("the file has no vertex colours", "paint some, or load an image");
                    return Err(self.named(none));
                }
                let colors = &character.display.colors;
                Ok(mean(character, |v| colors.get(v).map_or(0.0, |c| c.x)))
            }
            FactorSource::Image(path) => of_image(character, &read(path)?).map_err(|e| self.named(e)),
            FactorSource::Beside => {
                let path = self.asset.path.with_extension("blend.png");
                of_image(character, &read(&path)?).map_err(|e| self.named(e))
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

fn of_image(character: &Character, image: &RgbaImage) -> Result<Painted> {
    let uvs = &character.display.uvs;
    // Files without texture coordinates have one value for all vertices.
    let plain = uvs.windows(2).all(|p| p[0] == p[1]);
    if uvs.len() != character.display.positions.len() || plain || image.width() == 0 || image.height() == 0 {
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
    use crate::asset::Asset;
    use crate::base::math::{Vec2, Vec4};
    use crate::bind::BindOptions;
    use crate::bind::shapes::Shape;
    use image::Rgba;

    #[test]
    fn factors_come_from_colours_and_images() {
        let share = |y: f32| y.clamp(0.0, 1.0);
        let shape = Shape { bones: 2, rings: 8, segments: 12, radius: 0.2, length: 1.0, blend: 0.5 };
        let folder = std::env::temp_dir().join(format!("sinew-factors-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut asset = shape.capsule_asset();
        asset.path = folder.join("hero.glb");
        let bind = |asset: &Asset| {
            Model::bind(asset.clone(), &BindOptions::default(), std::time::Duration::ZERO).unwrap()
        };
        let plain = bind(&asset);
        let error = plain.blend_factors(&FactorSource::Colors).err().unwrap().to_string();
        assert!(error.contains("vertex colours"), "{error}");
        let primitive = &mut asset.meshes[0].primitives[0];
        primitive.colors = primitive.positions.iter().map(|x| Vec4::new(share(x.y), 0.3, 0.3, 1.0)).collect();
        let v_of = |y: f32| 0.5 + 0.4 * (share(y) - 0.5);
        // Texture coordinates repeat.
        primitive.uvs = primitive.positions.iter().map(|x| Vec2::new(x.x + 3.0, v_of(x.y))).collect();
        let model = bind(&asset);
        let colors = model.blend_factors(&FactorSource::Colors).unwrap();
        // A ramp over v, with 64 pixels.
        let ramp = RgbaImage::from_fn(2, 64, |_, y| Rgba([(y as f32 * 255.0 / 63.0) as u8, 0, 0, 255]));
        let path = folder.join("ramp.png");
        ramp.save(&path).unwrap();
        let image = model.blend_factors(&FactorSource::Image(path.clone())).unwrap();
        let character = &model.bound.character;
        assert_eq!([colors.len(), image.len()], [character.control.positions.len(); 2]);
        for (v, x) in character.control.positions.iter().enumerate() {
            assert!((colors.get(v).unwrap() - share(x.y)).abs() < 3e-3);
            let wanted = (v_of(x.y) * 64.0 - 0.5) / 63.0;
            assert!((image.get(v).unwrap() - wanted).abs() < 8e-3, "{:?} {wanted}", image.get(v));
        }
        std::fs::write(&path, "no image").unwrap();
        for (model, source, says) in [
            (&model, FactorSource::Image(path.clone()), "ramp.png"),
            (&model, FactorSource::Image("/nowhere/x.png".into()), "/nowhere/x.png"),
            (&model, FactorSource::Beside, "hero.blend.png"),
        ] {
            let error = model.blend_factors(&source).err().unwrap().to_string();
            assert!(error.contains(says) && error.contains("PNG"), "{error}");
        }
        ramp.save(&path).unwrap();
        let mut bare = asset.clone();
        bare.meshes[0].primitives[0].uvs.fill(Vec2::ZERO);
        let error = bind(&bare).blend_factors(&FactorSource::Image(path)).err().unwrap().to_string();
        assert!(error.contains("texture coordinates"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
