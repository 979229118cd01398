//! Contact on the GPU: the stages of [`super::contact`].

use super::cells::Cells;
use super::contact::{self, Contact, Points, Search};
use super::level_buffers::{LevelBuffers, upload, upload_lists};
use super::levels::{Level, Share};
use super::place::Place;
use super::push::VolumePush;
use super::schedule::Touch;
use crate::base::Result;
use crate::deform::rig_buffers::padded;
use crate::gpu::constants::{GROUP_SIZE, NONE};
use crate::gpu::{Bindings, Buffer, Compute, Device, Frame, Resource, Texel};
use crate::{shared_with_shaders, spv};
use std::sync::Arc;

shared_with_shaders! {
    /// Push constants of the contact stages. Lengths in metres.
    #[derive(Debug, Default)]
    pub struct ContactPush as "ContactPush" {
        /// Number of points or vertices.
        pub count: u32,
        /// 1 if all points take part, 0 if only points near contact do.
        pub all: u32,
        /// Number of hash buckets minus one; the number is a power of two.
        pub mask: u32,
        /// 1 if the moves are applied to the skin, otherwise 0.
        pub apply: u32,
        /// Edge length of a cube.
        pub size: f32,
        /// Largest distance of a pair, and edge length of a grid cell.
        pub reach: f32,
        /// Largest distance across the common normal.
        pub lateral: f32,
        /// Distance along the common normal that pairs keep.
        pub margin: f32,
        /// The search finds a pair if its distance along the normal is less than the distance to keep plus this.
        pub ahead: f32,
        /// Stiffness of a contact spring, in units of `μ h`.
        pub stiffness: f32,
        /// Largest move of a vertex in a step.
        pub largest_move: f32,
    }
}

/// The pipelines, created once per device.
pub struct ContactPipelines {
    span: u32,
    place: Compute,
    pair: Compute,
    press: Compute,
    gather: Compute,
    brace: Compute,
    part: Compute,
    spread: Compute,
    bulge: Compute,
    follow: Compute,
}

/// A character's contact on the GPU.
pub struct ContactState {
    size: f32,
    nodes: u32,
    points: PointState,
    skin: PointState,
    press: Bindings,
    gather: Bindings,
    /// Number of nodes and bindings per coarser level, from fine to coarse.
    brace: Vec<(u32, Bindings)>,
    part: Bindings,
    /// Bindings of the two spread passes; the second pass applies the moves.
    spread: [Bindings; 2],
    /// Offset of each control vertex from its place in the cubes, in bind orientation.
    bulges: Buffer,
    follow: Bindings,
    /// The number of sculpt offsets, and the bindings of the stage that reads them.
    sculpts: Option<(u32, Bindings)>,
}

struct PointState {
    count: u32,
    heads: Buffer,
    buckets: u32,
    place: Bindings,
    pair: Bindings,
}

/// Buffers of points that several stages read.
struct PointBuffers {
    places: Buffer,
    cells: Buffer,
    vertices: Buffer,
    normals: Buffer,
    binds: Buffer,
    posed: Buffer,
    posed_normals: Buffer,
    heads: Buffer,
    buckets: u32,
    next: Buffer,
    partners: Buffer,
    pairs: Buffer,
}

impl PointBuffers {
    fn new(device: &Arc<Device>, points: &Points) -> Result<Self> {
        let count = points.place.len();
        let cell = |p: &Option<Place>| p.map_or(NONE, |p| p.cell);
        let at: Vec<_> = points.place.iter().map(|p| p.map_or_else(Default::default, |p| p.at)).collect();
        let binds: Vec<[f32; 4]> =
            points.bind.iter().zip(&points.depth).map(|(x, depth)| x.extend(*depth).to_array()).collect();
        let buckets = (2 * count.max(1)).next_power_of_two() as u32;
        let numbers = |name: &str, count: usize| Buffer::zeroed::<u32>(device, name, count.max(1));
        let vectors = |name: &str| Buffer::zeroed::<[f32; 4]>(device, name, count.max(1));
        Ok(Self {
            places: upload(device, "places of contact points", &padded(&at))?,
            cells: upload(
                device,
                "cubes of contact points",
                &points.place.iter().map(cell).collect::<Vec<_>>(),
            )?,
            vertices: upload(device, "vertices of contact points", &points.vertex)?,
            normals: upload(device, "normals of contact points", &padded(&points.normal))?,
            binds: upload(device, "bind positions of contact points", &binds)?,
            posed: vectors("contact points")?,
            posed_normals: vectors("contact normals")?,
            heads: numbers("contact grid", buckets as usize)?,
            buckets,
            next: numbers("contact grid lists", count)?,
            partners: numbers("contact partners", count)?,
            pairs: vectors("contact pairs")?,
        })
    }
}

impl ContactPipelines {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// If a shader and Rust disagree.
    pub fn new(device: &Arc<Device>, span: u32) -> Result<Self> {
        let new = |spv| Compute::new(device, spv, &[span]);
        let out = Self {
            span,
            place: new(spv!("deform/volume/contact_place.comp"))?,
            pair: new(spv!("deform/volume/contact_pair.comp"))?,
            press: new(spv!("deform/volume/contact_press.comp"))?,
            gather: new(spv!("deform/volume/contact_gather.comp"))?,
            brace: new(spv!("deform/volume/contact_brace.comp"))?,
            part: new(spv!("deform/volume/contact_part.comp"))?,
            spread: new(spv!("deform/volume/contact_spread.comp"))?,
            bulge: new(spv!("deform/volume/contact_bulge.comp"))?,
            follow: new(spv!("deform/volume/contact_follow.comp"))?,
        };
        out.gather.reflection().check::<Share>()?;
        Ok(out)
    }

    /// Uploads a character's data for contact. `positions` is the position stream of the skin.
    ///
    /// # Errors
    /// If memory is short.
    pub(super) fn bind(
        &self,
        cells: &Cells,
        levels: &[LevelBuffers],
        positions: &Buffer,
    ) -> Result<ContactState> {
        let (device, contact, finest) = (positions.device(), &cells.contact, &levels[0]);
        let texels = LevelBuffers::texels;
        let points = PointBuffers::new(device, &contact.points)?;
        let skin = PointBuffers::new(device, &contact.skin)?;
        let owners = upload(device, "contact points of vertices", &contact.owner)?;
        let vertices = contact.skin.place.len().max(1);
        let bulges = Buffer::zeroed::<[f32; 4]>(device, "sculpt layers in contact", vertices)?;
        let place = |own: &PointBuffers| {
            self.place.bind(&[
                ("corners", Resource::Texels(&finest.corners, Texel::Uint4)),
                ("displacements", texels(&finest.displacements)),
                ("places", texels(&own.places)),
                ("place_cells", Resource::Buffer(&own.cells)),
                ("rotations", Resource::Buffer(&finest.rotations)),
                ("normals", Resource::Buffer(&own.normals)),
                ("owners", Resource::Buffer(&owners)),
                ("owner_partners", Resource::Buffer(&points.partners)),
                ("posed_points", Resource::Buffer(&own.posed)),
                ("posed_normals", Resource::Buffer(&own.posed_normals)),
                ("heads", Resource::Buffer(&own.heads)),
                ("next", Resource::Buffer(&own.next)),
                ("vertices", Resource::Buffer(&own.vertices)),
                ("bulges", Resource::Buffer(&bulges)),
            ])
        };
        let pair = |own: &PointBuffers| {
            self.pair.bind(&[
                ("posed_points", texels(&own.posed)),
                ("posed_normals", texels(&own.posed_normals)),
                ("binds", Resource::Buffer(&own.binds)),
                ("normals", Resource::Buffer(&own.normals)),
                ("heads", Resource::Buffer(&own.heads)),
                ("next", Resource::Buffer(&own.next)),
                ("partners", Resource::Buffer(&own.partners)),
                ("pairs", Resource::Buffer(&own.pairs)),
            ])
        };
        let (place, pair) = ([place(&points)?, place(&skin)?], [pair(&points)?, pair(&skin)?]);
        let pushes = Buffer::zeroed::<[f32; 4]>(device, "contact forces", contact.points.place.len().max(1))?;
        let (offsets, shares) = upload_lists(device, "contact points at nodes", &contact.at_node)?;
        let press = self.press.bind(&[
            ("corners", Resource::Texels(&finest.corners, Texel::Uint4)),
            ("displacements", texels(&finest.displacements)),
            ("places", texels(&points.places)),
            ("place_cells", Resource::Buffer(&points.cells)),
            ("partners", Resource::Buffer(&points.partners)),
            ("pairs", Resource::Buffer(&points.pairs)),
            ("pushes", Resource::Buffer(&pushes)),
            ("rotations", Resource::Buffer(&finest.rotations)),
            ("vertices", Resource::Buffer(&points.vertices)),
            ("bulges", Resource::Buffer(&bulges)),
            ("weights", Resource::Buffer(&finest.weights)),
        ])?;
        let gather = self.gather.bind(&[
            ("contacts", Resource::Buffer(&finest.contacts)),
            ("pulls", texels(&finest.pulls)),
            ("point_offsets", Resource::Buffer(&offsets)),
            ("point_shares", Resource::Buffer(&shares)),
            ("pushes", texels(&pushes)),
            ("loads", Resource::Buffer(&finest.loads)),
        ])?;
        let brace = |(level, pair): (&Level, &[LevelBuffers])| {
            let (offsets, shares) = upload_lists(device, "finer nodes of contact", &level.restrict)?;
            let bindings = self.brace.bind(&[
                ("restrict_offsets", Resource::Buffer(&offsets)),
                ("restrict_shares", Resource::Buffer(&shares)),
                ("finer_contacts", Resource::Buffer(&pair[0].contacts)),
                ("contacts", Resource::Buffer(&pair[1].contacts)),
            ])?;
            Ok((level.nodes() as u32, bindings))
        };
        let brace: Result<Vec<_>> = cells.levels[1..].iter().zip(levels.windows(2)).map(brace).collect();
        let (part, spread) = self.on_skin(contact, &skin, positions)?;
        let follow = self.follow.bind(&[
            ("corners", Resource::Texels(&finest.corners, Texel::Uint4)),
            ("displacements", texels(&finest.displacements)),
            ("places", texels(&skin.places)),
            ("place_cells", Resource::Buffer(&skin.cells)),
            ("rotations", Resource::Buffer(&finest.rotations)),
            ("positions", Resource::Buffer(positions)),
            ("bulges", Resource::Buffer(&bulges)),
        ])?;
        let state = |own: PointBuffers, count: usize, place, pair| PointState {
            count: count as u32,
            heads: own.heads,
            buckets: own.buckets,
            place,
            pair,
        };
        let ([place_points, place_skin], [pair_points, pair_skin]) = (place, pair);
        Ok(ContactState {
            size: cells.levels[0].size,
            nodes: cells.levels[0].nodes() as u32,
            points: state(points, contact.points.place.len(), place_points, pair_points),
            skin: state(skin, contact.skin.place.len(), place_skin, pair_skin),
            press,
            gather,
            brace: brace?,
            part,
            spread,
            bulges,
            follow,
            sculpts: None,
        })
    }

    /// Binds the offsets of the sculpt layers, `SculptOffset` each, and their number.
    ///
    /// # Errors
    /// If memory is short.
    pub(super) fn set_sculpts(
        &self,
        state: &mut ContactState,
        offsets: Option<(&Buffer, u32)>,
    ) -> Result<()> {
        let bind = |(offsets, count): (&Buffer, u32)| -> Result<(u32, Bindings)> {
            let (offsets, bulges) = (Resource::Buffer(offsets), Resource::Buffer(&state.bulges));
            Ok((count, self.bulge.bind(&[("offsets", offsets), ("bulges", bulges)])?))
        };
        state.sculpts = offsets.map(bind).transpose()?;
        Ok(())
    }

    /// Records the stage that transfers changed sculpt offsets to the points. The caller must add a barrier after it.
    pub(super) fn sculpt(&self, state: &ContactState, frame: &mut Frame) {
        frame.fill(&state.bulges, 0);
        if let Some((count, bindings)) = &state.sculpts {
            frame.barrier();
            self.run(&self.bulge, bindings, ContactPush { count: *count, ..ContactPush::default() }, frame);
        }
    }

    /// Records the stage that computes the skin's offsets from its places in the cubes.
    pub(super) fn follow(&self, state: &ContactState, frame: &mut Frame) {
        let push = ContactPush { count: state.skin.count, ..ContactPush::default() };
        self.run(&self.follow, &state.follow, push, frame);
    }

    /// Binds the stages that move the skin.
    fn on_skin(
        &self,
        contact: &Contact,
        skin: &PointBuffers,
        positions: &Buffer,
    ) -> Result<(Bindings, [Bindings; 2])> {
        let device = positions.device();
        let count = contact.skin.place.len().max(1);
        let moves = [
            Buffer::zeroed::<[f32; 4]>(device, "contact moves", count)?,
            Buffer::zeroed::<[f32; 4]>(device, "spread contact moves", count)?,
        ];
        let offsets = upload(device, "contact neighbour offsets", &contact.neighbors.offset)?;
        let neighbors = upload(device, "contact neighbours", &contact.neighbors.neighbor)?;
        let part = self.part.bind(&[
            ("positions", Resource::Buffer(positions)),
            ("partners", Resource::Buffer(&skin.partners)),
            ("pairs", Resource::Buffer(&skin.pairs)),
            ("moves", Resource::Buffer(&moves[0])),
        ])?;
        let spread = |from: usize| {
            self.spread.bind(&[
                ("posed_points", Resource::Buffer(&skin.posed)),
                ("neighbor_offsets", Resource::Buffer(&offsets)),
                ("neighbors", Resource::Buffer(&neighbors)),
                ("moves", LevelBuffers::texels(&moves[from])),
                ("spread", Resource::Buffer(&moves[1 - from])),
                ("positions", Resource::Buffer(positions)),
            ])
        };
        Ok((part, [spread(0)?, spread(1)?]))
    }

    fn run(&self, stage: &Compute, bindings: &Bindings, push: ContactPush, frame: &mut Frame) {
        frame.dispatch_groups(stage, bindings, &push, [push.count.div_ceil(GROUP_SIZE * self.span), 1, 1]);
    }

    /// Records the search for pairs.
    pub(super) fn touch(&self, state: &ContactState, touch: Touch, frame: &mut Frame) {
        let Search { reach, lateral, margin, ahead } = touch.search();
        let (own, all) = if touch == Touch::Skin { (&state.skin, 0) } else { (&state.points, 1) };
        let push = ContactPush {
            count: own.count,
            all,
            mask: own.buckets - 1,
            size: state.size,
            reach: reach * state.size,
            lateral: lateral * state.size,
            margin: margin * state.size,
            ahead: ahead * state.size,
            ..ContactPush::default()
        };
        frame.fill(&own.heads, NONE);
        frame.barrier();
        self.run(&self.place, &own.place, push, frame);
        frame.barrier();
        self.run(&self.pair, &own.pair, push, frame);
    }

    /// Records the forces of the contact springs. `volume` are the push constants of the finest level.
    pub(super) fn press(&self, state: &ContactState, volume: VolumePush, frame: &mut Frame) {
        let push = ContactPush {
            count: state.points.count,
            stiffness: contact::STIFFNESS,
            ..ContactPush::default()
        };
        self.run(&self.press, &state.press, push, frame);
        frame.barrier();
        let volume = VolumePush { count: state.nodes, ..volume };
        let groups = [state.nodes.div_ceil(GROUP_SIZE * self.span), 1, 1];
        frame.dispatch_groups(&self.gather, &state.gather, &volume, groups);
    }

    /// Records the stiffness of the contact springs at a coarser level, 1 or more.
    pub(super) fn brace(&self, state: &ContactState, level: usize, frame: &mut Frame) {
        let Some((count, bindings)) = state.brace.get(level - 1) else { return };
        let push = VolumePush { count: *count, ..VolumePush::default() };
        frame.dispatch_groups(&self.brace, bindings, &push, [count.div_ceil(GROUP_SIZE * self.span), 1, 1]);
    }

    /// Records one step that parts the skin.
    pub(super) fn part(&self, state: &ContactState, frame: &mut Frame) {
        let push = ContactPush {
            count: state.skin.count,
            largest_move: contact::LARGEST_MOVE * state.size,
            ..ContactPush::default()
        };
        self.run(&self.part, &state.part, push, frame);
        for (bindings, apply) in state.spread.iter().zip(0..) {
            frame.barrier();
            self.run(&self.spread, bindings, ContactPush { apply, ..push }, frame);
        }
    }
}
