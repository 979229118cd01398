// Fetches a deformed display vertex as a corner of a triangle that the tessellation divides.
#version 460
#define PATCH
#include "render/surface_vertex.glsl"
