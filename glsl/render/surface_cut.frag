// Shades surfaces with masked or blended materials.
#version 460
#define CUT_OUT
#include "render/surface.glsl"
