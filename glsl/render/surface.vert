// Fetches a deformed display vertex and projects it for each view.
#version 460
#include "render/surface_vertex.glsl"
