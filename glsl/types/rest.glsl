// These structs are also defined in src/deform/rest/gpu.rs; layout(scalar).

// A bone of the changed rest shape, bind space, metres.
struct RestBone {
    vec3 head_offset;
    float pad0;
    vec3 tail_offset;
    float pad1;
    vec3 head;
    float pad2;
    vec3 span;
    float pad3;
};
