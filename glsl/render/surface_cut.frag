// Surfaces with cut-outs and blended ones.
#version 460
#define CUT_OUT
#include "render/surface.glsl"
