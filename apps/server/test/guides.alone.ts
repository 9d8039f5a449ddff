import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { guides } from "./support/guides.ts";
import { freePort, WeirProcess } from "./support/weir-process.ts";

const BIN = fileURLToPath(new URL("../../../bin", import.meta.url));
const NODE = fileURLToPath(new URL("../../../node_modules/.bin", import.meta.url));
const MAX_MS = 180_000;

const all = guides().filter(({ commands }) => commands > 0);

test.each(all)("$page works from an empty folder to its end", { timeout: MAX_MS }, async ({ script }) => {
  // A guide's own: a project may start two test broadcasts a minute, and a name finds one stream.
  await using weir = await WeirProcess.start();
  const cwd = makeTestFolder("guide");
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const port = String(await freePort());
  const here = script
    .replaceAll("localhost:8080", `127.0.0.1:${weir.httpPort}`)
    .replaceAll("localhost:3000", `127.0.0.1:${port}`)
    .replaceAll("listen(3000)", `listen(${port})`);
  // The group of processes ends with the guide, and what it started in the background with it.
  const child = spawn("bash", ["-c", `set -eu\n${here}`], {
    cwd,
    detached: true,
    env: {
      ...{ PATH: `${BIN}:${NODE}:${process.env.PATH}`, HOME: cwd, XDG_CONFIG_HOME: cwd },
      WEIR_URL: weir.url,
      WEIR_API_KEY: weir.apiKey,
      API_KEY: weir.apiKey,
    },
  });
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.on("data", (chunk) => {
      said += chunk;
    });
  const { pid = 0 } = child;
  onTestFinished(() => {
    try {
      process.kill(-pid, "SIGTERM");
    } catch {}
  });
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  expect([code, code === 0 ? "" : said]).toEqual([0, ""]);
});
