// Runs after `npm ci`, with whatever Node npm found: plain JavaScript that old versions can parse.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
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
  // The list of what was built tells a newcomer nothing; a failure is shown whole.
  const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", "build"], { encoding: "utf8" });
  if (status === 0) console.log("The dashboard is built. Start Weir with: npm start");
  else console.error(`${stdout}${stderr}\nThe dashboard could not be built. Run npm run build to see why.`);
  process.exitCode = status ?? 1;
} else if (!isBuilt) {
  console.warn(
    "The dashboard is not built, because its build packages are not installed. Run npm ci, then npm prune --omit=dev.",
  );
}
