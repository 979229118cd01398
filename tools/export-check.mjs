// Exports many files in every way that Sinew has and compares each with what independent programs make of it.
//
//   node tools/export-check.mjs SINEW FOLDER FILE ...
//
// Of each FILE it makes, in FOLDER: posed exports by linear blending, springs, FAST and IRS; where the file has a clip a
// project of it and a joined bake within a budget. The Khronos validator must find no error that the file itself has not;
// three.js and Blender must show each export within 1e-4 of the diagonal, posed, and at three times; `inspect`, `deform`,
// `render` and `save` must open it again. A file without joints is posed by its clip. A file that `sinew inspect` refuses, or
// that has no vertex, is left out and counted. A viewer that does not show the file itself as Sinew does is not asked about what
// is made of it; both are counted. Files of more than 4 influences are written with --compatible.
//
// Needs tools/validate.mjs, tools/three-check.mjs and tools/blender-check.py with what they need. Exit code 1: something does
// not hold.
import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [sinew, folder, ...files] = process.argv.slice(2);
if (!files.length) {
  console.error("usage: node tools/export-check.mjs SINEW FOLDER FILE ...");
  process.exit(2);
}
const tools = dirname(fileURLToPath(import.meta.url));
const program = resolve(sinew);
const run = (command, words, cwd) => spawnSync(command, words, { cwd, encoding: "utf8", maxBuffer: 1 << 28 });
const python = process.env.SINEW_BLENDER_PYTHON ?? "python3";
const failures = [];
const counts = { files: 0, "left out": 0, exports: 0, reopened: 0, "viewers set aside": 0 };

/** A file under another name. */
function link(path, as) {
  copyFileSync(path, as);
  return as;
}

/** Errors by the validator's count, per file: `[number, ...]`. */
function errors(paths, cwd) {
  return paths.map((path) => {
    const out = run("node", [join(tools, "validate.mjs"), "--quiet", path], cwd);
    if (out.status === 2) {
      console.error(out.stderr);
      process.exit(2);
    }
    return Number(/(\d+) errors?/.exec(out.stdout)?.[1] ?? 0);
  });
}

function check(file, index) {
  const source = resolve(file);
  const told = run(program, ["inspect", source, "--json"]);
  const about = told.status === 0 ? JSON.parse(told.stdout) : null;
  const box = about?.bounds;
  const diagonal = box ? Math.hypot(...[0, 1, 2].map((i) => box[1][i] - box[0][i])) : 0;
  if (!(diagonal > 0)) {
    counts["left out"] += 1;
    return;
  }
  const at = join(folder, `${index}`);
  mkdirSync(at, { recursive: true });
  const fail = (what, out) => failures.push(`${file}: ${what}${out ? `: ${(out.stderr || out.stdout).trim()}` : ""}`);
  const make = (...words) => {
    const out = run(program, words, at);
    if (out.status !== 0) fail(`sinew ${words.join(" ")}`, out);
    return out.status === 0;
  };
  // Three joints of the middle, each turned about another axis.
  const names = about.joints.map((j) => j.name);
  const plain = names.filter((n) => n && !/[=:,#/]/.test(n) && names.indexOf(n) === names.lastIndexOf(n));
  const turns = ["x:40", "y:-35", "z:30"].flatMap((turn, i) => {
    const name = plain[Math.floor((plain.length * (i + 1)) / 4)];
    return name ? ["--rotate", `${name}=${turn}`] : [];
  });
  const clip = about.clips.findIndex((c) => c.seconds > 0);
  const pose = turns.length || clip < 0 ? turns : ["--clip", `${clip}`, "--time", `${about.clips[clip].seconds / 3}`];
  const compatible = about.meshes.some((m) => m.influences_max > 4) ? ["--compatible"] : [];
  const written = [], shown = [];
  for (const method of ["lbs", "springs", "fast", "irs"]) {
    const words = ["deform", source, "--method", method, "--on", "cpu", ...pose, ...compatible, "--out"];
    if (make(...words, `${method}.glb`) && make(...words, `${method}.obj`)) {
      written.push(`${method}.glb`);
      // Whether a viewer plays the first animation or shows the file as it stands, it shows the pose.
      const has = JSON.parse(run(program, ["inspect", `${method}.glb`, "--json"], at).stdout).clips.length;
      shown.push([`${method}.glb`, `${has ? 0 : ""}=${method}.obj`]);
    }
  }
  if (clip >= 0) {
    const seconds = about.clips[clip].seconds;
    const budget = `${diagonal * 1e3 * 4e-5}`;
    const shapes = (of, times) => times.flatMap((time, i) => {
      const out = `${of}${i}.obj`;
      return make("deform", "project.glb", "--time", `${time}`, "--on", "cpu", "--out", out) ? [`${time}=${out}`] : [];
    });
    if (make("save", source, ...compatible, "--clip", `${clip}`, "--budget-mm", budget, "--on", "cpu", "--out", "project.glb")) {
      written.push("project.glb");
      const frames = Math.floor(seconds * 24);
      const times = [0.2, 0.5, 0.8].map((share) => Math.round(share * frames) / 24);
      shown.push(["project.glb", ...shapes("project", [...new Set(times)])]);
      const last = Math.max(1, Math.min(8, Math.floor(seconds * 8)));
      if (make("bake", "project.glb", "--frames", `0-${last}`, "--fps", "8", "--on", "cpu", "--out", "frames")
        && make("bake", "--join", "frames", ...compatible, "--budget-mm", budget, "--out", "joined.glb")) {
        written.push("joined.glb");
        const kept = [...new Set([0, Math.round(last / 2), last])].map((f) => f / 8);
        shown.push(["joined.glb", ...shapes("joined", kept)]);
      }
    }
  }
  for (const [i, name] of written.entries()) {
    const opened = [["inspect", name], ["deform", name, "--on", "cpu"], ["render", name, "--size", "64x64", "--out", "x.png"],
      ["save", name, "--on", "cpu", "--out", `again${i}.glb`]];
    counts.reopened += opened.filter((words) => make(...words)).length;
  }
  const [own, ...theirs] = errors([source, ...written], at);
  theirs.forEach((n, i) => n > own && fail(`${written[i]}: ${n} validator errors, the file itself has ${own}`));
  const words = shown.flat();
  if (words.length && make("deform", source, "--method", "lbs", "--on", "cpu", "--out", "own.glb")
    && make("deform", source, "--method", "lbs", "--on", "cpu", "--out", "own.obj")) {
    const viewers = [["three.js", "node", "three-check.mjs"], ["Blender", python, "blender-check.py"]];
    let aside = 0;
    for (const [viewer, command, tool] of viewers) {
      const ask = (...files) => run(command, [join(tools, tool), ...files], at);
      const own = source.endsWith(".glb") ? ask(link(source, join(at, "source.glb")), "=own.obj") : ask("own.glb", "=own.obj");
      if (own.status !== 0) {
        counts["viewers set aside"] += 1;
        aside += 1;
        console.log(`${file}: ${viewer} does not show the file itself: ${(/(.*(?:WRONG|does not load|Error).*)/.exec(own.stdout + own.stderr)?.[1] ?? "").trim()}`);
        continue;
      }
      const out = ask(...words);
      appendFileSync(join(folder, "viewers.txt"), `${file}, ${viewer}\n${out.stdout}`);
      const wrong = out.stdout.split("\n").filter((line) => /WRONG|does not load|finds no clip/.test(line));
      wrong.forEach((line) => fail(`${viewer}: ${line.trim()}`));
      if (out.status !== 0 && !wrong.length) fail(viewer, out);
      if (out.stdout.startsWith("skipped")) fail(`${viewer}: ${out.stdout.trim()}`);
    }
    if (aside === viewers.length) fail("no viewer shows the file itself");
  }
  counts.files += 1;
  counts.exports += written.length;
  rmSync(at, { recursive: true });
}

mkdirSync(folder, { recursive: true });
files.forEach((file, index) => {
  const before = failures.length;
  check(file, index);
  console.log(`${file}: ${failures.length === before ? "holds" : "FAILS"}`);
  failures.slice(before).forEach((line) => console.log(`  ${line}`));
});
console.log(Object.entries(counts).map(([name, n]) => `${n} ${name}`).join(", "), `- ${failures.length} failures`);
process.exit(failures.length ? 1 : 0);
