//! Textures with mip levels, box-filtered in linear light.

use crate::asset::{Image as Picture, Wrap};
use crate::base::Result;
use crate::gpu::{Device, Image, ImageInfo, Sampler};
use ash::vk;
use std::sync::Arc;

/// Uploads an image with all mip levels. `srgb` says that colours are sRGB-encoded (base colour, emission) instead of
/// linear (normals, roughness). An image larger than the device's limit is downsampled by factors of two until it fits.
pub(super) fn upload(device: &Arc<Device>, picture: &Picture, srgb: bool) -> Result<Image> {
    let most = device.limits().max_image_dimension2_d;
    let mut level = Level {
        width: picture.width as usize,
        height: picture.height as usize,
        rgba: std::borrow::Cow::Borrowed(&picture.rgba),
    };
    let decode = table(srgb);
    while level.width.max(level.height) > most as usize {
        level = level.half(&decode, srgb);
    }
    let levels = usize::BITS - level.width.max(level.height).leading_zeros();
    let image = Image::new(
        device,
        &ImageInfo {
            name: &picture.name,
            format: if srgb { vk::Format::R8G8B8A8_SRGB } else { vk::Format::R8G8B8A8_UNORM },
            size: [level.width as u32, level.height as u32],
            layers: 1,
            levels,
            usage: vk::ImageUsageFlags::SAMPLED,
        },
    )?;
    for index in 0..levels {
        device.run(|frame| {
            frame.upload_image(&image, 0, index, &level.rgba);
            Ok(())
        })?;
        if index + 1 < levels {
            level = level.half(&decode, srgb);
        }
    }
    Ok(image)
}

/// Creates a sampler with a texture's wrap modes; `nearest` disables filtering for magnification.
pub(super) fn sampler(device: &Arc<Device>, wrap: [Wrap; 2], nearest: bool) -> Result<Sampler> {
    let mode = |wrap| match wrap {
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Wrap::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
    };
    Sampler::new(device, wrap.map(mode), nearest)
}

struct Level<'a> {
    width: usize,
    height: usize,
    rgba: std::borrow::Cow<'a, [u8]>,
}

impl Level<'_> {
    /// Returns the next mip level: each texel is the mean of the one to nine texels that it covers. Colours are
    /// weighted by alpha, so that the hidden colours of transparent texels do not bleed into visible texels.
    fn half<'b>(&self, decode: &[f32; 256], srgb: bool) -> Level<'b> {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut rgba = Vec::with_capacity(width * height * 4);
        for y in 0..height {
            let rows = y * self.height / height..((y + 1) * self.height / height).max(y + 1);
            for x in 0..width {
                let columns = x * self.width / width..((x + 1) * self.width / width).max(x + 1);
                let (mut weighted, mut plain, mut alpha, mut count) = ([0.0; 3], [0.0; 3], 0.0, 0.0);
                for row in rows.clone() {
                    for column in columns.clone() {
                        let at = (row * self.width + column) * 4;
                        let a = f32::from(self.rgba[at + 3]) / 255.0;
                        for i in 0..3 {
                            let c = decode[usize::from(self.rgba[at + i])];
                            weighted[i] += a * c;
                            plain[i] += c;
                        }
                        alpha += a;
                        count += 1.0;
                    }
                }
                let color = |i: usize| {
                    if srgb && alpha > 0.0 { weighted[i] / alpha } else { plain[i] / count }
                };
                rgba.extend((0..3).map(|i| encode(color(i), srgb)));
                rgba.push((alpha / count * 255.0).round() as u8);
            }
        }
        Level { width, height, rgba: rgba.into() }
    }
}

fn table(srgb: bool) -> [f32; 256] {
    std::array::from_fn(|i| {
        let c = i as f32 / 255.0;
        if !srgb {
            c
        } else if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn encode(c: f32, srgb: bool) -> u8 {
    let e = if !srgb {
        c
    } else if c <= 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    };
    (e.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mips_keep_the_light_and_ignore_the_colour_of_clear_texels() {
        let white_and_black = [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 255];
        let level = Level { width: 2, height: 2, rgba: white_and_black.as_slice().into() };
        let half = level.half(&table(true), true);
        // The mean of black and white in linear light is 188 in sRGB, not 128.
        assert_eq!((half.width, half.height, half.rgba.as_ref()), (1, 1, [188, 188, 188, 255].as_slice()));
        let red_and_clear = [255, 0, 0, 255, 0, 255, 0, 0];
        let level = Level { width: 2, height: 1, rgba: red_and_clear.as_slice().into() };
        assert_eq!(level.half(&table(true), true).rgba.as_ref(), [255, 0, 0, 128]);
        let odd = Level { width: 3, height: 1, rgba: vec![10; 12].into() };
        assert_eq!(odd.half(&table(false), false).rgba.as_ref(), [10, 10, 10, 10]);
    }
}
