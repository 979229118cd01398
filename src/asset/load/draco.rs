//! KHR_draco_mesh_compression: a primitive's triangles and most of its attributes in one bitstream.

use super::item::Item;
use crate::asset::limits;
use crate::base::Result;
use draco_core::{DecodeLimits, DecoderBuffer, FaceIndex, Mesh, MeshDecoder};
use std::panic::{AssertUnwindSafe, catch_unwind};

const NAME: &str = "KHR_draco_mesh_compression";

/// A decoded primitive.
pub(super) struct Draco<'c> {
    mesh: Mesh,
    /// Attribute ids of the bitstream by semantic.
    ids: Item<'c>,
}

impl<'c> Draco<'c> {
    /// Decodes the extension of a primitive, `None` if it has none or gives its data in plain as well.
    ///
    /// # Errors
    /// The extension's object or the bitstream is invalid, or a limit is exceeded.
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
        // The decoder is safe code with checked reads; if it panics all the same, the file counts as invalid.
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
        // Charged whether or not the attributes are used: many primitives can name one bitstream.
        ctx.spend(&item.at, 16 * bytes.len() as u64 + 4 * (mesh.num_points() + mesh.num_faces()) as u64)?;
        let ids = item.child("attributes")?.ok_or_else(|| item.broken("\"attributes\" is missing"))?;
        Ok(Some(Self { mesh, ids }))
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.mesh.num_points()
    }

    /// Vertex indices of all triangles, three each.
    pub fn indices(&self) -> Result<Vec<u32>> {
        self.ids.ctx.spend(&self.ids.at, 12 * self.mesh.num_faces() as u64)?;
        Ok((0..self.mesh.num_faces())
            .flat_map(|f| self.mesh.face(FaceIndex(f as u32)).map(|p| p.0))
            .collect())
    }

    /// Components of a semantic and its values as they are stored, `None` if it is not in the bitstream.
    ///
    /// # Errors
    /// The bitstream lacks the attribute that the file names.
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

/// Whether the primitive has uncompressed positions.
fn has_plain_positions(primitive: &Item) -> Result<bool> {
    let ctx = primitive.ctx;
    let Some(attributes) = primitive.child("attributes")? else { return Ok(false) };
    let accessors = ctx.table("accessors", limits::ACCESSORS)?.len();
    let Some(index) = attributes.index("POSITION", accessors, "accessor")? else { return Ok(false) };
    Ok(ctx.item("accessors", "accessor", index)?.map.contains_key("bufferView"))
}
