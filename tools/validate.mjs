// Checks glTF files with the Khronos validator.
//
//   node tools/validate.mjs [--quiet] FILE.glb FILE.gltf ...
//
// Needs the npm package `gltf-validator`: found where `npm install gltf-validator` put it in the current folder, in
// this repository, or in the folder that GLTF_VALIDATOR names. Prints every error and warning and one line per file.
// Exit code: 0 without errors, 1 with errors, 2 where the package or a file is missing.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const quiet = process.argv.includes("--quiet");
const files = process.argv.slice(2).filter((a) => !a.startsWith("--"));
if (files.length === 0) {
  console.error("usage: node tools/validate.mjs [--quiet] FILE ...");
  process.exit(2);
}

const here = dirname(fileURLToPath(import.meta.url));
const folders = [process.env.GLTF_VALIDATOR, process.cwd(), resolve(here, "..")].filter(Boolean);
let validator = null;
for (const folder of folders) {
  try {
    validator = createRequire(join(resolve(folder), "package.json"))("gltf-validator");
    break;
  } catch {
    // Try the next folder.
  }
}
if (!validator) {
  console.error("gltf-validator is not installed: run `npm install gltf-validator` in some folder and name it in GLTF_VALIDATOR");
  process.exit(2);
}

let code = 0;
for (const file of files) {
  let bytes;
  try {
    bytes = new Uint8Array(readFileSync(file));
  } catch (error) {
    console.error(`${file}: ${error.message}`);
    code = 2;
    continue;
  }
  const options = {
    uri: file,
    maxIssues: 0,
    externalResourceFunction: async (uri) =>
      new Uint8Array(readFileSync(join(dirname(file), decodeURIComponent(uri)))),
  };
  let issues;
  try {
    ({ issues } = await validator.validateBytes(bytes, options));
  } catch (error) {
    issues = { numErrors: 1, numWarnings: 0, messages: [{ severity: 0, code: "NOT_GLTF", pointer: "", message: `${error}` }] };
  }
  const counts = new Map();
  for (const m of issues.messages.filter((m) => m.severity <= (quiet ? 0 : 1))) {
    const n = (counts.get(m.code) ?? 0) + 1;
    counts.set(m.code, n);
    if (n <= 3) console.log(`  ${["error", "warning"][m.severity]} ${m.code} ${m.pointer ?? ""}: ${m.message}`);
  }
  const kinds = [...counts].map(([kind, n]) => `${kind} x${n}`).join(", ");
  console.log(`${file}: ${issues.numErrors} errors, ${issues.numWarnings} warnings${kinds ? ` (${kinds})` : ""}`);
  if (issues.numErrors > 0) code = Math.max(code, 1);
}
process.exit(code);
