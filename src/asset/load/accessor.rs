//! Reads accessors: typed arrays, checked against their buffer before any allocation.

use super::context::Context;
use super::item::Item;
use crate::asset::limits;
use crate::base::Result;

/// Component type of an accessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(code: u64) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Returns the size of one component, bytes.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Returns the factor that maps a normalised component to 0..=1, or to -1..=1 for signed types (glTF 2.0,
    /// 3.6.2.2: Accessor data types).
    pub fn scale(self) -> f32 {
        match self {
            Self::I8 => 1.0 / 127.0,
            Self::U8 => 1.0 / 255.0,
            Self::I16 => 1.0 / 32767.0,
            Self::U16 => 1.0 / 65535.0,
            Self::U32 => 1.0 / 4_294_967_295.0,
            Self::F32 => 1.0,
        }
    }
}

/// An accessor whose extent is within its buffer view.
pub(super) struct Accessor<'c> {
    pub item: Item<'c>,
    /// Number of elements.
    pub count: usize,
    /// Type of one component.
    pub component: Component,
    /// Components per element.
    pub width: usize,
    /// Whether integers represent normalised values.
    pub normalized: bool,
    base: Option<Strided<'c>>,
    sparse: Option<Sparse<'c>>,
}

/// Elements at a distance of `stride` bytes. `bytes` extends from the first to the last element.
struct Strided<'c> {
    bytes: &'c [u8],
    stride: usize,
}

struct Sparse<'c> {
    indices: Vec<u32>,
    values: Strided<'c>,
}

impl<'c> Accessor<'c> {
    /// Opens accessor `index` of the file.
    ///
    /// # Errors
    /// The accessor does not exist, is malformed or too long, or extends beyond its buffer view.
    pub fn open(ctx: &'c Context<'c>, index: usize) -> Result<Self> {
        ctx.table("accessors", limits::ACCESSORS)?;
        let item = ctx.item("accessors", "accessor", index)?;
        let code = item.required_whole("componentType")?;
        let component =
            Component::of(code).ok_or_else(|| item.broken(format!("componentType {code} does not exist")))?;
        let kind = item.text("type")?.ok_or_else(|| item.broken("\"type\" is missing"))?;
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" | "MAT2" => 4,
            "MAT3" => 9,
            "MAT4" => 16,
            _ => return Err(item.broken(format!("type \"{kind}\" does not exist"))),
        };
        let count = item.required_whole("count")?;
        if count > limits::ACCESSOR_COUNT as u64 {
            return Err(
                item.broken(format!("it has {count} elements, the limit is {}", limits::ACCESSOR_COUNT))
            );
        }
        let count = count as usize;
        let normalized = item.flag("normalized")?;
        let base = match item.map.get("bufferView") {
            None => None,
            Some(_) => Some(strided(&item, count, component.size() * width)?),
        };
        let sparse =
            item.child("sparse")?.map(|s| sparse(&s, count, component.size() * width)).transpose()?;
        Ok(Self { item, count, component, width, normalized, base, sparse })
    }

    /// Returns all components as floats. Normalised integers become fractions; signed fractions are at least -1.
    ///
    /// # Errors
    /// The file's budget of decoded bytes is exhausted.
    pub fn floats(&self) -> Result<Vec<f32>> {
        self.floats_as(self.normalized)
    }

    /// Returns all components as floats like [`Self::floats`], but with an explicit `normalized` flag.
    pub fn floats_as(&self, normalized: bool) -> Result<Vec<f32>> {
        let scale = if normalized { self.component.scale() } else { 1.0 };
        match self.component {
            Component::F32 => self.collect(f32::from_le_bytes),
            Component::U8 => self.collect(|b: [u8; 1]| f32::from(b[0]) * scale),
            Component::U16 => self.collect(|b| f32::from(u16::from_le_bytes(b)) * scale),
            Component::U32 => self.collect(|b| u32::from_le_bytes(b) as f32 * scale),
            Component::I8 if normalized => {
                self.collect(|b: [u8; 1]| (f32::from(b[0] as i8) * scale).max(-1.0))
            }
            Component::I8 => self.collect(|b: [u8; 1]| f32::from(b[0] as i8)),
            Component::I16 if normalized => {
                self.collect(|b| (f32::from(i16::from_le_bytes(b)) * scale).max(-1.0))
            }
            Component::I16 => self.collect(|b| f32::from(i16::from_le_bytes(b))),
        }
    }

    /// Returns all components as unsigned integers.
    ///
    /// # Errors
    /// The components are floats or signed, or the budget of decoded bytes is exhausted.
    pub fn wholes(&self) -> Result<Vec<u32>> {
        match self.component {
            Component::U8 => self.collect(|b: [u8; 1]| u32::from(b[0])),
            Component::U16 => self.collect(|b| u32::from(u16::from_le_bytes(b))),
            Component::U32 => self.collect(u32::from_le_bytes),
            _ => Err(self.item.broken("it must hold unsigned integers")),
        }
    }

    fn collect<const N: usize, T: Copy + Default>(&self, decode: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
        let components = self.count * self.width;
        self.item.ctx.spend(&self.item.at, (components * size_of::<T>()) as u64)?;
        let mut out = Vec::new();
        match &self.base {
            None => out.resize(components, T::default()),
            Some(base) => {
                out.reserve_exact(components);
                for element in 0..self.count {
                    out.extend(base.components::<N>(element, self.width).map(&decode));
                }
            }
        }
        if let Some(sparse) = &self.sparse {
            for (at, &element) in sparse.indices.iter().enumerate() {
                let slot = &mut out[element as usize * self.width..][..self.width];
                for (value, bytes) in slot.iter_mut().zip(sparse.values.components::<N>(at, self.width)) {
                    *value = decode(bytes);
                }
            }
        }
        Ok(out)
    }
}

impl Strided<'_> {
    fn components<const N: usize>(&self, element: usize, width: usize) -> impl Iterator<Item = [u8; N]> {
        let bytes = &self.bytes[element * self.stride..][..width * N];
        bytes.chunks_exact(N).map(|chunk| {
            let mut array = [0; N];
            array.copy_from_slice(chunk);
            array
        })
    }
}

/// Returns the data of an object with `bufferView` and `byteOffset`, for `count` elements of `size` bytes.
fn strided<'c>(item: &Item<'c>, count: usize, size: usize) -> Result<Strided<'c>> {
    let ctx = item.ctx;
    let view = item
        .index("bufferView", ctx.table("bufferViews", limits::ACCESSORS)?.len(), "bufferView")?
        .ok_or_else(|| item.broken("\"bufferView\" is missing"))?;
    let offset = item.whole("byteOffset")?.unwrap_or(0);
    let opened = ctx.view(view)?;
    let bytes = opened.bytes(ctx);
    let stride = opened.stride.unwrap_or(size);
    if stride < size {
        return Err(item.broken(format!(
            "its elements of {size} bytes overlap: bufferView {view} has a byteStride of {stride}"
        )));
    }
    // No overflow in u64: at most 16e6 elements of at most 64 KiB.
    let length = if count == 0 { 0 } else { (count as u64 - 1) * stride as u64 + size as u64 };
    match offset.checked_add(length) {
        Some(end) if end <= bytes.len() as u64 => {
            Ok(Strided { bytes: &bytes[offset as usize..end as usize], stride })
        }
        _ => Err(item.broken(format!(
            "its {count} elements need {length} bytes from byte {offset} of bufferView {view}, which has {}",
            bytes.len()
        ))),
    }
}

fn sparse<'c>(item: &Item<'c>, count: usize, size: usize) -> Result<Sparse<'c>> {
    let replaced = item.required_whole("count")?;
    if replaced > count as u64 {
        return Err(item.broken(format!("it replaces {replaced} of {count} elements")));
    }
    let replaced = replaced as usize;
    let part = |key| item.child(key)?.ok_or_else(|| item.broken(format!("\"{key}\" is missing")));
    let (at, values) = (part("indices")?, part("values")?);
    let component = match Component::of(at.required_whole("componentType")?) {
        Some(c @ (Component::U8 | Component::U16 | Component::U32)) => c,
        _ => return Err(at.broken("its componentType is not an unsigned integer")),
    };
    let raw = strided(&at, replaced, component.size())?;
    item.ctx.spend(&item.at, 4 * replaced as u64)?;
    let indices: Vec<u32> = (0..replaced)
        .map(|i| {
            let bytes = &raw.bytes[i * raw.stride..][..component.size()];
            bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
        })
        .collect();
    if let Some(wrong) = indices.iter().find(|&&i| i as usize >= count) {
        return Err(at.broken(format!("it replaces element {wrong} of {count}")));
    }
    if indices.windows(2).any(|pair| pair[0] >= pair[1]) {
        at.mend("the indices do not rise; the last value of an element is used");
    }
    Ok(Sparse { indices, values: strided(&values, replaced, size)? })
}
