"""Compares what Blender shows with Sinew's own positions: Blender imports an exported .glb, evaluates it at given times, and
every vertex of its meshes must lie where an .obj of Sinew (`sinew deform --time T --out x.obj`) has it.

  python3 tools/blender-check.py FILE.glb [--clip NAME] TIME=SHAPE.obj ... [FILE.glb ...] [--within SHARE]

One process takes any number of files. A bare `=SHAPE.obj` is the static pose: Blender loses it where a file has animations,
so it is looked at in a copy without. Without --clip the clip
that Blender plays after the import is taken, the file's first. A vertex may be off by SHARE (default 1e-4) of the diagonal of
the shape's box.

Needs Blender as a Python module (`pip install bpy`) in the Python that runs this, or in the one that SINEW_BLENDER_PYTHON
names, which then takes over. Without it: a line, and exit code 0. Exit code 1: vertices are off; 2: something else failed.
"""
import json
import os
import struct
import sys
import tempfile

# Frames a second while checking: a time in milliseconds is a whole frame.
RATE = 1000


def jobs(arguments):
    """[(file, clip, [(time, shape)])] and the share of the diagonal."""
    out, within, rest = [], 1e-4, list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--within":
            within = float(rest.pop(0))
        elif word == "--clip":
            out[-1][1] = rest.pop(0)
        elif word.endswith(".glb"):
            out.append([word, None, []])
        else:
            time, shape = word.split("=", 1)
            out[-1][2].append((float(time) if time else None, shape))
    return out, within


def wanted(path):
    """The vertices of an .obj."""
    with open(path, encoding="utf-8") as lines:
        rows = [line.split()[1:4] for line in lines if line.startswith("v ")]
    return numpy.array(rows, dtype=float)


def animated():
    """Everything that may have an action: objects and their shape keys."""
    for thing in bpy.data.objects:
        keys = getattr(thing.data, "shape_keys", None)
        yield from (t for t in (thing, keys) if t is not None and t.animation_data)


def play(clip):
    """Plays a clip by name; whether there is one."""
    found = False
    for thing in animated():
        data = thing.animation_data
        strips = [s for track in data.nla_tracks if track.name == clip for s in track.strips]
        data.action = strips[0].action if strips else None
        if strips:
            data.action_slot = strips[0].action_slot
            found = True
    return found


def without_animations(file, out):
    """A copy of a .glb."""
    with open(file, "rb") as given:
        data = given.read()
    length = struct.unpack("<I", data[12:16])[0]
    tree = json.loads(data[20:20 + length])
    tree.pop("animations", None)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length:]
    with open(out, "wb") as copy:
        copy.write(b"glTF" + struct.pack("<III", 2, 20 + len(text) + len(rest), len(text)) + b"JSON" + text + rest)


def shown(time):
    """The vertices of every mesh in the world, glTF's Y up, an array per object."""
    frame = 0.0 if time is None else time * RATE
    whole = int(frame // 1)
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    graph = bpy.context.evaluated_depsgraph_get()
    out = []
    for thing in bpy.context.scene.objects:
        if thing.type != "MESH" or any(c.name == "glTF_not_exported" for c in thing.users_collection):
            continue
        evaluated = thing.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        points = numpy.empty(len(mesh.vertices) * 3)
        mesh.vertices.foreach_get("co", points)
        matrix = numpy.array(evaluated.matrix_world)
        points = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        out.append(points[:, [0, 2, 1]] * [1, 1, -1])
        evaluated.to_mesh_clear()
    return out


def distances(objects, points):
    """How far each vertex is off: in Sinew's order where the counts agree, else to the nearest vertex, both ways."""
    if sum(map(len, objects)) == len(points):
        rest, at, out = list(objects), 0, []
        while rest:
            def apart(o):
                part = points[at:at + len(o)]
                return numpy.linalg.norm(part - o, axis=1) if len(part) == len(o) else numpy.full(1, numpy.inf)
            # Blender names and sorts objects its own way: the one that fits is meant.
            best = min(range(len(rest)), key=lambda i: apart(rest[i]).max(initial=0.0))
            out.append(apart(rest[best]))
            at += len(rest.pop(best))
        return numpy.concatenate(out)
    from mathutils import kdtree
    found = numpy.concatenate(objects)

    def nearest(of, among):
        tree = kdtree.KDTree(len(among))
        for i, p in enumerate(among):
            tree.insert(p, i)
        tree.balance()
        return [tree.find(p)[2] for p in of]
    return numpy.array(nearest(found, points) + nearest(points, found))


def check(file, clip, poses, within):
    """Number of poses that are off."""
    with tempfile.TemporaryDirectory() as folder:
        still = os.path.join(folder, "still.glb")
        bad = 0
        if any(time is None for time, _ in poses):
            without_animations(file, still)
            load(still)
            bad += sum(is_off(file, *pose, within) for pose in poses if pose[0] is None)
    moving = [pose for pose in poses if pose[0] is not None]
    if moving:
        load(file)
        if clip is not None and not play(clip):
            print(f"{file}: Blender finds no clip {clip!r}")
            return bad + len(moving)
    return bad + sum(is_off(file, *pose, within) for pose in moving)


def load(file):
    """Into an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = RATE, 1.0
    bpy.ops.import_scene.gltf(filepath=file, merge_vertices=False)


def is_off(file, time, shape, within):
    """Compares and tells one pose."""
    points = wanted(shape)
    diagonal = numpy.linalg.norm(points.max(axis=0) - points.min(axis=0))
    objects = shown(time)
    off = distances(objects, points) / diagonal if objects else numpy.full(1, numpy.inf)
    wrong = not off.max() <= within
    when = "as it stands" if time is None else f"at {time} s"
    print(f"  {os.path.basename(file)} {when}: {len(points)} vertices, largest distance {off.max():.1e} of the "
          f"diagonal, mean {off.mean():.1e}{': WRONG' if wrong else ''}")
    return wrong


def main():
    todo, within = jobs(sys.argv[1:])
    if not todo:
        print(__doc__, file=sys.stderr)
        return 2
    bad = sum(check(*job, within) for job in todo)
    print("Blender shows something else" if bad else f"Blender shows the same, to {within:.0e} of the diagonal")
    return 1 if bad else 0


named = os.environ.get("SINEW_BLENDER_PYTHON")
if named and "SINEW_BLENDER_CHILD" not in os.environ:
    os.environ["SINEW_BLENDER_CHILD"] = "1"
    try:
        os.execv(named, [named, os.path.abspath(__file__), *sys.argv[1:]])
    except OSError as error:
        print(f"skipped: {named}: {error.strerror}")
        sys.exit(0)
try:
    import bpy
    import numpy
except ImportError as error:
    print(f"skipped: {error}; install bpy, or name a Python that has it in SINEW_BLENDER_PYTHON")
    sys.exit(0)
code = main()
sys.stdout.flush()
sys.exit(code)
