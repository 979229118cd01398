//! KHR_draco_mesh_compression: decodes a primitive's triangles and most of its attributes from one bitstream.

use super::item::Item;
use crate::asset::limits;
use crate::base::Result;
use draco_core::{DecodeLimits, DecoderBuffer, FaceIndex, Mesh, MeshDecoder};
use std::panic::{AssertUnwindSafe, catch_unwind};

const NAME: &str = "KHR_draco_mesh_compression";

/// A decoded primitive.
pub(super) struct Draco<'c> {
    mesh: Mesh,
    /// The extension's `attributes` object: bitstream attribute ids by semantic.
    ids: Item<'c>,
}

impl<'c> Draco<'c> {
    /// Decodes a primitive's extension. Returns `None` without the extension, or if uncompressed data exists.
    ///
    /// # Errors
    /// The extension's JSON object or the bitstream is invalid, or a limit is exceeded.
    pub fn open(primitive: &Item<'c>) -> Result<Option<Self>> {
        let Some(item) = primitive.extension(NAME) else { return Ok(None) };
        if has_plain_positions(primitive)? {
            return Ok(None);
        }
        let ctx = item.ctx;
        let views = ctx.table("bufferViews", limits::ACCESSORS)?.len();
        let view = item
            .index("bufferView", views, "bufferView")?
            .ok_or_else(|| item.broken("\"bufferView\" is missing"))?;
        let bytes = ctx.view(view)?.bytes(ctx);
        let limits = DecodeLimits::default()
            .with_max_points(limits::VERTICES as u64)
            .with_max_faces(limits::VERTICES as u64)
            .with_max_decoded_bytes(ctx.remaining());
        // The decoder is safe code with checked reads. If it still panics, the file counts as invalid.
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            let mut mesh = Mesh::new();
            let mut buffer = DecoderBuffer::new(bytes).with_limits(limits);
            MeshDecoder::new().decode(&mut buffer, &mut mesh).map(|()| mesh)
        }));
        let mesh = match decoded {
            Ok(Ok(mesh)) => mesh,
            Ok(Err(error)) => return Err(item.broken(format!("its bitstream is broken: {error}"))),
            Err(_) => return Err(item.broken("its bitstream is broken")),
        };
        if mesh.num_points().max(mesh.num_faces()) > limits::VERTICES {
            return Err(item.broken(format!("it has more than {} vertices or triangles", limits::VERTICES)));
        }
        // The cost counts even if no attribute is used, because many primitives can refer to one bitstream.
        ctx.spend(&item.at, 16 * bytes.len() as u64 + 4 * (mesh.num_points() + mesh.num_faces()) as u64)?;
        let ids = item.child("attributes")?.ok_or_else(|| item.broken("\"attributes\" is missing"))?;
        Ok(Some(Self { mesh, ids }))
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.mesh.num_points()
    }

    /// Returns the vertex indices of all triangles, three per triangle.
    pub fn indices(&self) -> Result<Vec<u32>> {
        self.ids.ctx.spend(&self.ids.at, 12 * self.mesh.num_faces() as u64)?;
        Ok((0..self.mesh.num_faces())
            .flat_map(|f| self.mesh.face(FaceIndex(f as u32)).map(|p| p.0))
            .collect())
    }

    /// Returns component count and raw values of a semantic; `None` if the extension's `attributes` object does not
    /// list the semantic.
    ///
    /// # Errors
    /// The bitstream does not contain the attribute that the `attributes` object lists.
    pub fn values(&self, semantic: &str) -> Result<Option<(usize, Vec<f32>)>> {
        let Some(id) = self.ids.whole(semantic)? else { return Ok(None) };
        let attribute = u32::try_from(id).ok().and_then(|id| self.mesh.attribute_by_unique_id(id));
        let attribute = attribute
            .ok_or_else(|| self.ids.broken(format!("{semantic}: the bitstream has no attribute {id}")))?;
        let (width, vertices) = (attribute.num_components() as usize, self.vertices());
        self.ids.ctx.spend(&self.ids.at, (4 * width * vertices) as u64)?;
        Ok(Some((width, attribute.read_f32s(vertices, width))))
    }
}

/// Returns whether the primitive has uncompressed positions.
fn has_plain_positions(primitive: &Item) -> Result<bool> {
    let ctx = primitive.ctx;
    let Some(attributes) = primitive.child("attributes")? else { return Ok(false) };
    let accessors = ctx.table("accessors", limits::ACCESSORS)?.len();
    let Some(index) = attributes.index("POSITION", accessors, "accessor")? else { return Ok(false) };
    Ok(ctx.item("accessors", "accessor", index)?.map.contains_key("bufferView"))
}
