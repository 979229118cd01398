// Several elements per invocation, far enough apart that neighbours in a group read neighbours in memory: a software
// device spends as much on starting an invocation as on a simple element.

layout(constant_id = 0) const uint SPAN = 1;

uint span_element(uint n) {
    return (gl_WorkGroupID.x * SPAN + n) * GROUP_SIZE + gl_LocalInvocationID.x;
}
