// Skin influences of the control vertices at bindings 0 to 3, for stages that blend joints (needs types/rig.glsl).
// With INFLUENCE_TEXELS they are read from texel buffers.

#ifdef INFLUENCE_TEXELS
layout(set = 0, binding = 0) uniform usamplerBuffer influence_joints;
layout(set = 0, binding = 1) uniform samplerBuffer influence_weights;
#define JOINTS_OF(i) texelFetch(influence_joints, int(i)).xy
#define WEIGHTS_OF(i) texelFetch(influence_weights, int(i))
#else
layout(set = 0, binding = 0, scalar) readonly buffer InfluenceJoints { uvec2 influence_joints[]; };
layout(set = 0, binding = 1, scalar) readonly buffer InfluenceWeights { vec4 influence_weights[]; };
#define JOINTS_OF(i) influence_joints[i]
#define WEIGHTS_OF(i) influence_weights[i]
#endif
layout(set = 0, binding = 2, scalar) readonly buffer TailOffset { uint tail_offset[]; };
layout(set = 0, binding = 3, scalar) readonly buffer Tail { TailEntry tail[]; };

// Expands ADD(joint, weight) for each influence of vertex i, largest weight first. The first four influences have
// 16-bit joint indices; all further ones are in the tail list.
#define FOR_INFLUENCES(i, has_tail, ADD)                             \
    {                                                                \
        uvec2 joints_ = JOINTS_OF(i);                                \
        vec4 weights_ = WEIGHTS_OF(i);                               \
        ADD(joints_.x & 0xffffu, weights_.x)                         \
        if (weights_.y > 0.0) { ADD(joints_.x >> 16, weights_.y) }   \
        if (weights_.z > 0.0) { ADD(joints_.y & 0xffffu, weights_.z) } \
        if (weights_.w > 0.0) { ADD(joints_.y >> 16, weights_.w) }   \
        if (has_tail != 0u) {                                        \
            uint end_ = tail_offset[i + 1];                          \
            for (uint k_ = tail_offset[i]; k_ < end_; ++k_) {        \
                TailEntry entry_ = tail[k_];                         \
                ADD(entry_.joint, entry_.weight)                     \
            }                                                        \
        }                                                            \
    }
