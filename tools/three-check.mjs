// Compares what three.js shows with Sinew's own positions: three.js loads an exported .glb, plays it to given times, and
// every vertex must lie where an .obj of Sinew (`sinew deform --time T --out x.obj`) has it.
//
//   node tools/three-check.mjs [--within SHARE] FILE.glb [--clip NAME] TIME=SHAPE.obj ... [FILE.glb ...]
//
// One process takes any number of files. A bare `=SHAPE.obj` is the static pose. Without --clip the file's first animation
// plays. A vertex may be off by SHARE (default 1e-4) of the diagonal of the shape's box. three.js runs without a browser:
// its own code skins and morphs on the CPU, and pictures are left out.
//
// Needs the npm package `three` (in the current folder, in this repository, or in the folder that VIEWER names). Without it:
// a line, and exit code 0. Exit code 1: vertices are off; 2: something else failed.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const places = [process.env.VIEWER, process.cwd(), resolve(here, "..")].filter(Boolean);
const three = places.map((p) => join(resolve(p), "node_modules", "three")).find((p) => existsSync(p));
if (!three) {
  console.log("skipped: the npm package three is not installed");
  process.exit(0);
}
globalThis.self ??= globalThis;
const THREE = await import(pathToFileURL(join(three, "build", "three.module.js")));
const { GLTFLoader } = await import(pathToFileURL(join(three, "examples/jsm/loaders/GLTFLoader.js")));
const { MeshoptDecoder } = await import(pathToFileURL(join(three, "examples/jsm/libs/meshopt_decoder.module.js")));

/** [{file, clip, poses: [[time or null, shape]]}] and the share of the diagonal. */
function jobs(words) {
  let within = 1e-4;
  const out = [];
  while (words.length) {
    const word = words.shift();
    if (word === "--within") within = Number(words.shift());
    else if (word === "--clip") out.at(-1).clip = words.shift();
    else if (/\.(glb|gltf|vrm)$/i.test(word)) out.push({ file: word, clip: null, poses: [] });
    else {
      const at = word.indexOf("=");
      out.at(-1).poses.push([at ? Number(word.slice(0, at)) : null, word.slice(at + 1)]);
    }
  }
  return [out, within];
}

/** The file without materials and pictures, which three.js can load in a browser only. */
function plain(bytes) {
  const length = bytes.readUInt32LE(12);
  const tree = JSON.parse(bytes.toString("utf8", 20, 20 + length));
  for (const key of ["materials", "textures", "images", "samplers"]) delete tree[key];
  for (const mesh of tree.meshes ?? []) {
    for (const primitive of mesh.primitives) {
      delete primitive.material;
      delete primitive.extensions?.KHR_materials_variants;
    }
  }
  const kept = (name) => !/^KHR_(materials|texture)|^EXT_texture|^VRM|^SINEW/.test(name);
  tree.extensionsUsed = (tree.extensionsUsed ?? []).filter(kept);
  tree.extensionsRequired = (tree.extensionsRequired ?? []).filter(kept);
  if (!tree.extensionsUsed.length) delete tree.extensionsUsed;
  if (!tree.extensionsRequired.length) delete tree.extensionsRequired;
  let text = Buffer.from(JSON.stringify(tree));
  text = Buffer.concat([text, Buffer.alloc(-text.length & 3, " ")]);
  const rest = bytes.subarray(20 + length);
  const head = Buffer.alloc(20);
  head.write("glTF");
  [2, 20 + text.length + rest.length, text.length].forEach((n, i) => head.writeUInt32LE(n, 4 + 4 * i));
  head.write("JSON", 16);
  return new Uint8Array(Buffer.concat([head, text, rest])).buffer;
}

/** What is drawn as triangles, in the order of the file's nodes and primitives. */
function drawn(gltf) {
  const out = [];
  gltf.scene.traverse((object) => {
    if (!object.isMesh) return;
    const of = (o) => gltf.parser.associations.get(o) ?? {};
    const node = of(object).nodes ?? of(object.parent).nodes ?? 0;
    out.push({ object, node, primitive: of(object).primitives ?? 0 });
  });
  return out.sort((a, b) => a.node - b.node || a.primitive - b.primitive).map((d) => d.object);
}

function shown(gltf) {
  gltf.scene.updateMatrixWorld(true);
  const out = [], at = new THREE.Vector3();
  for (const mesh of drawn(gltf)) {
    mesh.skeleton?.update();
    for (let i = 0; i < mesh.geometry.attributes.position.count; i++) {
      mesh.getVertexPosition(i, at).applyMatrix4(mesh.matrixWorld);
      out.push([at.x, at.y, at.z]);
    }
  }
  return out;
}

const wanted = (path) => readFileSync(path, "utf8").split("\n").filter((l) => l.startsWith("v "))
  .map((l) => l.split(/\s+/).slice(1, 4).map(Number));
const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/** How far each point is from the nearest of others, by a grid. */
function nearest(of, among, cell) {
  const key = (p, d) => p.map((x, i) => Math.floor(x / cell) + d[i]).join();
  const grid = new Map();
  for (const p of among) {
    const k = key(p, [0, 0, 0]);
    (grid.get(k) ?? grid.set(k, []).get(k)).push(p);
  }
  const steps = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((z) => [x, y, z])));
  return of.map((p) => Math.min(...steps.flatMap((d) => (grid.get(key(p, d)) ?? []).map((q) => apart(p, q)))));
}

const [todo, within] = jobs(process.argv.slice(2));
if (!todo.length) {
  console.error("usage: node tools/three-check.mjs [--within SHARE] FILE.glb [--clip NAME] TIME=SHAPE.obj ...");
  process.exit(2);
}
let bad = 0;
for (const { file, clip, poses } of todo) {
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  // A fresh scene for the static pose: a mixer leaves its last values behind.
  const load = async () => loader.parseAsync(plain(readFileSync(file)), "");
  let gltf;
  try {
    gltf = await load();
  } catch (error) {
    console.log(`  ${file}: three.js does not load it: ${error.message}`);
    bad += 1;
    continue;
  }
  for (const [time, shape] of poses) {
    let found;
    if (time === null) found = shown(await load());
    else {
      const animation = clip ? gltf.animations.find((a) => a.name === clip) : gltf.animations[0];
      if (!animation) {
        console.log(`  ${file}: three.js finds no clip ${clip ?? ""}`);
        bad += 1;
        continue;
      }
      const mixer = new THREE.AnimationMixer(gltf.scene);
      const action = mixer.clipAction(animation).setLoop(THREE.LoopOnce);
      action.clampWhenFinished = true;
      action.play();
      mixer.setTime(time);
      found = shown(gltf);
      mixer.stopAllAction();
    }
    const points = wanted(shape);
    const corner = (pick) => [0, 1, 2].map((i) => points.reduce((m, p) => pick(m, p[i]), points[0][i]));
    const diagonal = apart(corner(Math.max), corner(Math.min));
    const off = found.length === points.length
      ? found.map((p, i) => apart(p, points[i]))
      : [...nearest(found, points, diagonal / 50), ...nearest(points, found, diagonal / 50)];
    const largest = off.reduce((a, b) => Math.max(a, b), 0) / diagonal;
    const mean = off.reduce((a, b) => a + b, 0) / off.length / diagonal;
    const wrong = !(largest <= within);
    bad += wrong;
    console.log(`  ${file} ${time === null ? "as it stands" : `at ${time} s`}: ${points.length} vertices, largest distance ` +
      `${largest.toExponential(1)} of the diagonal, mean ${mean.toExponential(1)}${wrong ? ": WRONG" : ""}`);
  }
}
console.log(bad ? "three.js shows something else" : `three.js shows the same, to ${within} of the diagonal`);
process.exit(bad ? 1 : 0);
