// The vertices that a round of untangling looks at: each once, in any order, since none sees what others do in it.
// Needs push.count, how many there are.

// Per round four words: groups, 1, 1, vertices.
layout(set = 0, binding = 0, scalar) buffer Rounds { uint rounds[]; };
// This round's list and the next one's, a half each.
layout(set = 0, binding = 1, scalar) buffer Queue { uint queue[]; };
// Per vertex: one more than the last round that it is in.
layout(set = 0, binding = 2, scalar) buffer Queued { uint queued[]; };
// Each vertex's number among those that may be pushed, or NONE.
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
