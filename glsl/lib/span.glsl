// Several elements per invocation, spaced so that adjacent invocations read adjacent memory. On a software device,
// starting an invocation costs as much as processing a simple element.

layout(constant_id = 0) const uint SPAN = 1;

uint span_element(uint n) {
    return (gl_WorkGroupID.x * SPAN + n) * GROUP_SIZE + gl_LocalInvocationID.x;
}
