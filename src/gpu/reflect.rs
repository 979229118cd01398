//! Reflection of a SPIR-V stage: bindings, push constants, struct layouts, workgroup size. Needs no device.

use crate::base::{Error, Result};
use ash::vk;
use spirq::prelude::*;
use spirq::ty::SpirvType;

/// The resource interface of one shader stage.
#[derive(Clone, Debug)]
pub struct Reflection {
    /// Name of the stage, for messages.
    pub name: String,
    /// The kind of stage, e.g. compute or vertex.
    pub stage: vk::ShaderStageFlags,
    /// Invocations per workgroup; `[1; 3]` for stages other than compute stages.
    pub local_size: [u32; 3],
    /// All descriptors, sorted by set and binding.
    pub bindings: Vec<Binding>,
    /// The push constant block, if any.
    pub push: Option<StructLayout>,
    /// Every struct and block that lies in a buffer; duplicates are removed.
    pub structs: Vec<StructLayout>,
    /// Ids of specialisation constants, ascending.
    pub specialisation: Vec<u32>,
}

/// A descriptor of a shader stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name of the variable. For a block without instance name: the name of its member if it has only one, else the
    /// name of the block.
    pub name: String,
    /// Index of the descriptor set.
    pub set: u32,
    /// Binding index within the descriptor set.
    pub binding: u32,
    /// Number of descriptors; more than 1 for array bindings.
    pub count: u32,
    /// Descriptor type.
    pub kind: vk::DescriptorType,
    /// If the block's last member is an array: bytes from one array element to the next; else zero.
    pub stride: u32,
    /// Minimum number of bytes that a bound buffer must have.
    pub min_bytes: u64,
}

/// The memory layout of a struct or block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    /// Name of the struct or block in GLSL.
    pub name: String,
    /// End of the last member, bytes; a run-time array counts as empty.
    pub size: u32,
    /// Members in order of declaration.
    pub fields: Vec<Field>,
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the member in GLSL.
    pub name: String,
    /// Offset from the start of the struct, bytes.
    pub offset: u32,
    /// Size of the member, bytes.
    pub size: u32,
}

impl Reflection {
    /// Reflects one stage. Fails on invalid SPIR-V and on SPIR-V without an entry point `main`.
    pub fn new(name: &str, words: &[u32]) -> Result<Self> {
        let broken = |problem: String| {
            Error::gpu(
                format!("{name}: {problem}"),
                "compile the shaders again (cargo run --features shaderc --bin shaders)",
            )
        };
        let entries = ReflectConfig::new()
            .spv(words)
            .ref_all_rscs(true)
            .reflect()
            .map_err(|e| broken(format!("cannot be reflected: {e}")))?;
        let [entry] = entries.as_slice() else {
            return Err(broken("has not exactly one entry point".into()));
        };
        let mut out = Self {
            name: name.to_owned(),
            stage: stage_of(entry.exec_model).ok_or_else(|| broken("is of an unknown stage".into()))?,
            local_size: [1; 3],
            bindings: Vec::new(),
            push: None,
            structs: Vec::new(),
            specialisation: Vec::new(),
        };
        for mode in &entry.exec_modes {
            if mode.exec_mode == spirq::spirv::ExecutionMode::LocalSize {
                for (size, operand) in out.local_size.iter_mut().zip(&mode.operands) {
                    // An operand that is a literal is reported without a type, as four little-endian bytes.
                    *size = match &operand.value {
                        ConstantValue::U32(n) => *n,
                        ConstantValue::Typeless(b) => {
                            b.get(..4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                        }
                        _ => 0,
                    };
                }
            }
        }
        if out.local_size.contains(&0) {
            return Err(broken("its group size is no literal".into()));
        }
        for variable in &entry.vars {
            out.add(variable).map_err(broken)?;
        }
        out.bindings.sort_by_key(|b| (b.set, b.binding));
        out.specialisation.sort_unstable();
        out.specialisation.dedup();
        Ok(out)
    }

    /// Returns the layout of a struct or block by its GLSL name.
    pub fn layout(&self, name: &str) -> Option<&StructLayout> {
        self.structs.iter().find(|s| s.name == name)
    }

    /// Returns the binding with this name.
    pub fn binding(&self, name: &str) -> Option<&Binding> {
        self.bindings.iter().find(|b| b.name == name)
    }

    fn add(&mut self, variable: &Variable) -> Result<(), String> {
        match variable {
            Variable::Descriptor { name, desc_bind, desc_ty, ty, nbind } => {
                let kind = kind_of(desc_ty)
                    .ok_or_else(|| format!("descriptor {desc_bind} is of an unknown kind"))?;
                self.add_structs(ty);
                let inner = strip_arrays(ty);
                let block = if let Type::Struct(block) = inner { Some(block) } else { None };
                let last = block.and_then(|b| b.members.last());
                let only_member =
                    block.filter(|b| b.members.len() == 1).and_then(|b| b.members[0].name.clone());
                let called = name.clone().filter(|n| !n.is_empty()).or(only_member);
                let called = called.or_else(|| block.and_then(|b| b.name.clone()));
                let stride = match last.map(|m| &m.ty) {
                    Some(Type::Array(array)) => array.stride.unwrap_or(0) as u32,
                    _ => 0,
                };
                self.bindings.push(Binding {
                    name: called.ok_or_else(|| format!("descriptor {desc_bind} has no name"))?,
                    set: desc_bind.set(),
                    binding: desc_bind.bind(),
                    count: (*nbind).max(1),
                    kind,
                    stride,
                    min_bytes: block.and_then(SpirvType::min_nbyte).unwrap_or(0) as u64,
                });
            }
            Variable::PushConstant { ty, .. } => {
                self.add_structs(ty);
                if let Type::Struct(block) = ty {
                    self.push = Some(layout_of(block));
                }
            }
            Variable::SpecConstant { spec_id, .. } => self.specialisation.push(*spec_id),
            Variable::Input { .. } | Variable::Output { .. } => {}
        }
        Ok(())
    }

    fn add_structs(&mut self, ty: &Type) {
        match ty {
            Type::Array(array) => self.add_structs(&array.element_ty),
            Type::Struct(block) => {
                let layout = layout_of(block);
                if !self.structs.contains(&layout) {
                    self.structs.push(layout);
                }
                for member in &block.members {
                    self.add_structs(&member.ty);
                }
            }
            _ => {}
        }
    }
}

fn layout_of(block: &spirq::ty::StructType) -> StructLayout {
    let fields: Vec<Field> = block
        .members
        .iter()
        .map(|m| Field {
            name: m.name.clone().unwrap_or_default(),
            offset: m.offset.unwrap_or(0) as u32,
            size: m.ty.nbyte().unwrap_or(0) as u32,
        })
        .collect();
    let size = fields.iter().map(|f| f.offset + f.size).max().unwrap_or(0);
    StructLayout { name: block.name.clone().unwrap_or_default(), size, fields }
}

fn strip_arrays(ty: &Type) -> &Type {
    if let Type::Array(array) = ty { strip_arrays(&array.element_ty) } else { ty }
}

fn stage_of(model: ExecutionModel) -> Option<vk::ShaderStageFlags> {
    Some(match model {
        ExecutionModel::GLCompute => vk::ShaderStageFlags::COMPUTE,
        ExecutionModel::Vertex => vk::ShaderStageFlags::VERTEX,
        ExecutionModel::TessellationControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
        ExecutionModel::TessellationEvaluation => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        ExecutionModel::Fragment => vk::ShaderStageFlags::FRAGMENT,
        ExecutionModel::Geometry => vk::ShaderStageFlags::GEOMETRY,
        _ => return None,
    })
}

fn kind_of(kind: &DescriptorType) -> Option<vk::DescriptorType> {
    Some(match kind {
        DescriptorType::StorageBuffer(_) => vk::DescriptorType::STORAGE_BUFFER,
        DescriptorType::UniformBuffer() => vk::DescriptorType::UNIFORM_BUFFER,
        DescriptorType::CombinedImageSampler() => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        DescriptorType::UniformTexelBuffer() => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        DescriptorType::SampledImage() => vk::DescriptorType::SAMPLED_IMAGE,
        DescriptorType::Sampler() => vk::DescriptorType::SAMPLER,
        DescriptorType::StorageImage(_) => vk::DescriptorType::STORAGE_IMAGE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_with_shaders;

    shared_with_shaders! {
        struct Push as "Push" {
            count: u32,
            factor: f32,
        }

        struct Renamed as "Push" {
            count: u32,
            scale: f32,
        }

        struct Nothing as "Nothing" {
            count: u32,
        }
    }

    fn scale() -> Reflection {
        let spv = crate::spv!("test/scale.comp");
        Reflection::new(spv.name, &spv.words().unwrap()).unwrap()
    }

    #[test]
    fn reflects_bindings_push_and_group_size() {
        let r = scale();
        assert_eq!(r.local_size, [crate::gpu::constants::GROUP_SIZE, 1, 1]);
        let source = r.binding("source").unwrap();
        assert_eq!((source.set, source.binding, source.stride), (0, 0, 12));
        assert_eq!(r.binding("target").unwrap().kind, vk::DescriptorType::STORAGE_BUFFER);
        assert_eq!(r.push.as_ref().unwrap().size, 8);
        r.check::<Push>().unwrap();
    }

    #[test]
    fn a_differing_layout_is_an_error_that_names_the_field() {
        let error = scale().check::<Renamed>().unwrap_err();
        assert!(error.to_string().contains("field 1 is factor at 4"), "{error}");
        assert!(scale().check::<Nothing>().is_err());
    }
}
