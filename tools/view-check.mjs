// Compares what an independent viewer shows with Sinew's own pictures: three.js in headless Chromium plays an exported
// animation, and its outline must lie on that of `sinew render --plain` at the same times, from the same camera.
//
//   node tools/view-check.mjs SINEW PROJECT.glb TIME,TIME,... [--baked BAKED.glb] [--pixels N] [--keep FOLDER]
//
// With --baked, three.js plays that file, the project's frames joined, in place of the project itself.
// The camera is computed here anew, from the vertices as three.js skins and morphs them. A pixel is wrong where one
// picture shows the character and the other shows none within N pixels (default 2); none may be.
//
// Needs the npm package `three` (found as tools/validate.mjs finds its own, or in the folder that VIEWER names) and
// Chromium (`chromium`, `chromium-browser`, `google-chrome`, or what CHROMIUM names). Without them: a line, and exit
// code 0. Exit code 1: wrong pixels; 2: something else failed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [sinew, file, list, ...rest] = process.argv.slice(2);
if (!list) {
  console.error("usage: node tools/view-check.mjs SINEW PROJECT.glb TIME,TIME,... [--baked BAKED.glb] [--pixels N] [--keep FOLDER]");
  process.exit(2);
}
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : null);
const pixels = Number(option("--pixels") ?? 2);
const keep = option("--keep");
const played = option("--baked") ?? file;
const times = list.split(",").map(Number);

const here = dirname(fileURLToPath(import.meta.url));
const places = [process.env.VIEWER, process.cwd(), resolve(here, "..")].filter(Boolean);
const three = places.map((p) => join(resolve(p), "node_modules", "three")).find((p) => existsSync(p));
const names = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean);
const browser = names.find((n) => spawnSync(n, ["--version"]).status === 0);
if (!three || !browser) {
  console.log(`skipped: ${three ? "Chromium" : "the npm package three"} is not installed`);
  process.exit(0);
}

const size = [480, 640];
const [yaw, pitch] = [30, 8];
const work = mkdtempSync(join(tmpdir(), "sinew-view-"));
times.forEach((time, i) => {
  const out = join(work, `sinew_${i}.png`);
  const made = spawnSync(sinew, ["render", file, "--time", `${time}`, "--plain", "--out", out, "--size",
    size.join("x"), "--yaw", `${yaw}`, "--pitch", `${pitch}`], { encoding: "utf8" });
  if (made.status !== 0) {
    console.error(made.stderr);
    process.exit(2);
  }
});

const page = `<!doctype html><script type="importmap">{"imports":{"three":"/three/build/three.module.js","three/addons/":"/three/examples/jsm/"}}</script>
<script type="module">
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
const say = (o) => fetch("/result", { method: "POST", body: JSON.stringify(o) });
try {
  const [width, height] = ${JSON.stringify(size)}, times = ${JSON.stringify(times)}, near = ${pixels};
  const canvas = document.createElement("canvas");
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
  renderer.setSize(width, height, false);
  const gltf = await new GLTFLoader().loadAsync("/model.glb");
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0);
  scene.add(gltf.scene);
  gltf.scene.traverse((o) => {
    if (o.isMesh) { o.material = new THREE.MeshBasicMaterial({ color: 0xffffff, side: THREE.DoubleSide }); o.frustumCulled = false; }
  });
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const clip = gltf.animations[0];
  const action = mixer.clipAction(clip);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  const maskOf = (data, is) => { const m = new Uint8Array(width * height); for (let i = 0; i < m.length; i++) m[i] = is(data, i) ? 1 : 0; return m; };
  const sums = (mask) => {
    const s = new Int32Array((width + 1) * (height + 1));
    for (let y = 0; y < height; y++) for (let x = 0; x < width; x++)
      s[(y + 1) * (width + 1) + x + 1] = mask[y * width + x] + s[y * (width + 1) + x + 1] + s[(y + 1) * (width + 1) + x] - s[y * (width + 1) + x];
    return (x, y, r) => {
      const [x0, y0, x1, y1] = [Math.max(x - r, 0), Math.max(y - r, 0), Math.min(x + r + 1, width), Math.min(y + r + 1, height)];
      return s[y1 * (width + 1) + x1] - s[y0 * (width + 1) + x1] - s[y1 * (width + 1) + x0] + s[y0 * (width + 1) + x0];
    };
  };
  const wrong = (a, b) => { const near_b = sums(b); let n = 0; for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) n += a[y * width + x] && near_b(x, y, near) === 0 ? 1 : 0; return n; };
  const results = [];
  for (let i = 0; i < times.length; i++) {
    mixer.setTime(times[i]);
    scene.updateMatrixWorld(true);
    const box = new THREE.Box3(), p = new THREE.Vector3();
    gltf.scene.traverse((o) => {
      if (!o.isMesh) return;
      if (o.isSkinnedMesh) o.skeleton.update();
      for (let v = 0; v < o.geometry.attributes.position.count; v++) { o.getVertexPosition(v, p); box.expandByPoint(p.applyMatrix4(o.matrixWorld)); }
    });
    // Sinew's Camera::framing.
    const rad = Math.PI / 180, fov = 0.5, aspect = width / height;
    const back = new THREE.Vector3(0, 0, 1).applyAxisAngle(new THREE.Vector3(1, 0, 0), -${pitch} * rad).applyAxisAngle(new THREE.Vector3(0, 1, 0), ${yaw} * rad);
    const side = new THREE.Vector3(0, 1, 0).cross(back).normalize(), up = back.clone().cross(side);
    const tanY = Math.tan(fov / 2), tanX = tanY * aspect, half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    let distance = 0;
    for (let c = 0; c < 8; c++) {
      const corner = half.clone().multiply(new THREE.Vector3(c & 1 ? -1 : 1, c & 2 ? -1 : 1, c & 4 ? -1 : 1));
      distance = Math.max(distance, Math.max(Math.abs(corner.dot(side)) / tanX, Math.abs(corner.dot(up)) / tanY) + corner.dot(back));
    }
    distance = distance > 0 ? distance * 1.06 : 1;
    const center = box.getCenter(new THREE.Vector3());
    const camera = new THREE.PerspectiveCamera((fov * 180) / Math.PI, aspect, distance * 0.01, distance * 10);
    camera.position.copy(center).addScaledVector(back, distance);
    camera.lookAt(center);
    renderer.render(scene, camera);
    const flat = document.createElement("canvas");
    [flat.width, flat.height] = [width, height];
    const context = flat.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const theirs = maskOf(context.getImageData(0, 0, width, height).data, (d, i) => d[4 * i] > 127);
    const shown = flat.toDataURL("image/png");
    const image = new Image();
    image.src = "/sinew_" + i + ".png";
    await image.decode();
    context.drawImage(image, 0, 0);
    // The plain backdrop is the same along a row; a grey character is nearly that here and there.
    const ours = maskOf(context.getImageData(0, 0, width, height).data, (d, i) => {
      const row = Math.floor(i / width) * width;
      return [0, 1, 2].some((c) => Math.abs(d[4 * i + c] - d[4 * row + c]) > 2);
    });
    let both = 0, either = 0;
    for (let k = 0; k < ours.length; k++) { both += ours[k] & theirs[k]; either += ours[k] | theirs[k]; }
    results.push({ time: times[i], shown: ours.reduce((a, b) => a + b), overlap: both / either, wrong: [wrong(ours, theirs), wrong(theirs, ours)], picture: shown });
  }
  await say({ results, renderer: renderer.capabilities.isWebGL2 ? "WebGL 2" : "WebGL" });
} catch (error) { await say({ error: String(error.stack || error) }); }
</script>`;

const kinds = { js: "text/javascript", glb: "model/gltf-binary", png: "image/png" };
const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url.split("?")[0]);
  if (request.method === "POST") {
    const chunks = [];
    request.on("data", (c) => chunks.push(c));
    request.on("end", () => { response.end(); finish(JSON.parse(Buffer.concat(chunks))); });
    return;
  }
  if (path === "/") return response.setHeader("content-type", "text/html").end(page);
  const at = path === "/model.glb" ? played : path.startsWith("/three/") ? join(three, path.slice(6)) : join(work, path);
  if (path.includes("..") || !existsSync(at)) return response.writeHead(404).end();
  response.setHeader("content-type", kinds[at.split(".").pop()] ?? "application/octet-stream").end(readFileSync(at));
});

let child = null;
const end = (code) => {
  child?.removeAllListeners("exit");
  child?.kill("SIGKILL");
  // The browser's own processes may still write for a moment; what cannot be removed lies in the temporary folder.
  try {
    rmSync(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  } catch {}
  process.exit(code);
};
const finish = ({ error, results }) => {
  if (error) { console.error(error); end(2); }
  let bad = 0;
  for (const [i, r] of results.entries()) {
    bad += r.wrong[0] + r.wrong[1] + (r.shown < 1000 ? 1 : 0);
    console.log(`  at ${r.time} s: ${r.shown} pixels, overlap ${(100 * r.overlap).toFixed(2)} %, more than ${pixels} pixels off: ${r.wrong[0]} of ours, ${r.wrong[1]} of theirs`);
    if (keep) {
      mkdirSync(keep, { recursive: true });
      writeFileSync(join(keep, `three_${i}.png`), Buffer.from(r.picture.split(",")[1], "base64"));
      writeFileSync(join(keep, `sinew_${i}.png`), readFileSync(join(work, `sinew_${i}.png`)));
    }
  }
  console.log(bad ? "three.js shows something else" : `three.js shows the same, to ${pixels} pixels`);
  end(bad ? 1 : 0);
};
server.listen(0, "127.0.0.1", () => {
  const flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", `--user-data-dir=${join(work, "profile")}`];
  child = spawn(browser, [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: "ignore" });
  child.on("exit", () => { console.error("Chromium ended"); end(2); });
  setTimeout(() => { console.error("no answer within three minutes"); end(2); }, 180_000).unref();
});
