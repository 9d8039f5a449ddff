// Runs after `npm ci`, with whatever Node npm found: plain JavaScript that old versions can parse.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** The Node that runs npm, which selects platform-specific packages. Weir itself runs on the Node in node_modules. */
function nodeOfNpm() {
  const [, major = "0", minor = "0"] = /\bnode\/v(\d+)\.(\d+)/.exec(process.env.npm_config_user_agent ?? "") ?? [];
  return { major: Number(major), minor: Number(minor) };
}

const { major, minor } = nodeOfNpm();
const tooOld = major > 0 && (major < 20 || (major === 20 && minor < 19));
const hasBuilder = existsSync("node_modules/vite");
const hasSource = existsSync("apps/dashboard/src");
const isBuilt = existsSync("apps/dashboard/dist/index.html");

if (tooOld) {
  console.error(
    `Weir needs Node 20.19 or newer to install; this npm runs on Node ${major}.${minor}. Update Node, then run npm ci again.`,
  );
  process.exit(1);
}

// The installed Node includes headers for compiling add-ons (67 MB), which Weir does not need.
const installedNode = "node_modules/node/node_modules";
for (const entry of existsSync(installedNode) ? readdirSync(installedNode, { withFileTypes: true }) : []) {
  if (entry.isDirectory()) rmSync(`${installedNode}/${entry.name}/include`, { recursive: true, force: true });
}

if (hasBuilder && hasSource) {
  // Side by side, and without an npm for each.
  const [dashboard, packages] = await Promise.all([
    quietly("apps/dashboard", "../../node_modules/vite/bin/vite.js", "build"),
    quietly("packages/player", "build.ts").then((isBuilt) => isBuilt && quietly(".", "tools/packages.ts")),
  ]);
  const isDone = dashboard && packages;
  if (isDone) console.log("The dashboard, the player and the packages are built. Start Weir with: npm start");
  process.exitCode = isDone ? 0 : 1;
} else if (!isBuilt) {
  console.warn(
    "The dashboard is not built, because its build packages are not installed. Run npm ci, then npm prune --omit=dev.",
  );
}

/** Runs a program on the installed Node without its output, which tells a newcomer nothing. A failure is shown whole. */
function quietly(folder, program, ...args) {
  return new Promise((resolve) => {
    const node = resolvePath("node_modules/.bin/node");
    const child = spawn(node, [program, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const output of [child.stdout, child.stderr])
      output.on("data", (chunk) => {
        said += chunk;
      });
    child.on("error", (error) => {
      said += error.message;
    });
    child.on("close", (code) => {
      if (code !== 0) console.error(`${said}\n${program} in ${folder} failed.`);
      resolve(code === 0);
    });
  });
}
