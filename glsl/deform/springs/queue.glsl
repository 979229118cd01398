// The vertices that a round of untangling processes, each once. Their order does not matter, since a round reads only
// earlier results. Needs push.count, the number of vertices that may move.

// Four words per round: group count, 1, 1, vertex count.
layout(set = 0, binding = 0, scalar) buffer Rounds { uint rounds[]; };
// The lists of this round and of the next round, one half of the buffer each.
layout(set = 0, binding = 1, scalar) buffer Queue { uint queue[]; };
// Per vertex: one plus the last round that lists the vertex.
layout(set = 0, binding = 2, scalar) buffer Queued { uint queued[]; };
// Index of each vertex among the vertices that may move, or NONE.
layout(set = 0, binding = 3, scalar) readonly buffer Places { uint places[]; };

void enqueue(uint vertex, uint round) {
    uint k = places[vertex];
    if (k == NONE || atomicMax(queued[k], round + 1) > round) {
        return;
    }
    uint at = atomicAdd(rounds[4 * round + 3], 1);
    if (at % GROUP_SIZE == 0) {
        atomicAdd(rounds[4 * round], 1);
    }
    queue[(round & 1) * push.count + at] = k;
}
