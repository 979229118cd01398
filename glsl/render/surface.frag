// Shades opaque surfaces.
#version 460
#include "render/surface.glsl"
