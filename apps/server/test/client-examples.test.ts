import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { shareArena } from "./support/arena.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CLIENT = join(ROOT, "packages/client");
const X264 = { encoder: "libx264", width: 640, height: 384, options: { preset: "ultrafast" } } as const;
const SECRET = "a shared secret";

const arena = shareArena();
const run = promisify(execFile);

/** The examples of the client's documentation: `@example` of its exports, and the blocks of its README. */
function examples(): { readonly place: string; readonly code: string }[] {
  const inSources = readdirSync(join(CLIENT, "src"))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .flatMap((name) =>
      [...readFileSync(join(CLIENT, "src", name), "utf8").matchAll(/^ \* @example\n((?: \*(?: .*)?\n)+?) \*\//gm)].map(
        ([, lines = ""]) => ({ place: name, code: lines.replace(/^ \* ?/gm, "") }),
      ),
    );
  const readme = readFileSync(join(CLIENT, "README.md"), "utf8");
  const inReadme = [...readme.matchAll(/^ *```ts\n([\s\S]*?)^ *```/gm)].map(([, code = ""], index) => ({
    place: `README.md, ${index + 1}`,
    code,
  }));
  return [...inSources, ...inReadme];
}

/** What an example may use without saying where it comes from. */
function prelude(code: string): string {
  const exported = ["WeirClient", "WeirError", "PauseSwitch", "signAccessJwt", "uploadFile", "verifyWebhook"];
  const [, imported = ""] = /^import \{(.*)\} from "@weir\/client"/m.exec(code) ?? [];
  const given = {
    baseUrl: "process.env.WEIR",
    apiKey: "process.env.KEY",
    weir: "new WeirClient({ baseUrl: process.env.WEIR, apiKey: process.env.KEY })",
    playbackId: "process.env.PLAYBACK_ID",
    streamId: "process.env.STREAM_ID",
    sharedSecret: "process.env.SECRET",
    request:
      'new Request("http://localhost/hook", { method: "POST", body: process.env.BODY, headers: { "service-signature": process.env.SIGNATURE } })',
    file: 'await (await import("node:fs")).openAsBlob(process.env.FILE)',
  };
  const names = exported.filter((name) => !new RegExp(`\\b${name}\\b`).test(imported));
  const constants = Object.entries(given).filter(([name]) => !new RegExp(`^const ${name}\\b`, "m").test(code));
  return [
    `import { ${names.join(", ")} } from "@weir/client";`,
    ...constants.map(([name, value]) => `const ${name} = ${value};`),
    code,
  ].join("\n");
}

test("every function and class that the client exports has an example", () => {
  const index = readFileSync(join(CLIENT, "src/index.ts"), "utf8");
  const modules = [...index.matchAll(/^export \{([^}]*)\} from "\.\/(.*)";/gm)]
    .filter(([, names = ""]) => names.split(",").some((name) => !name.trim().startsWith("type ")))
    .map(([, , module = ""]) => module);
  expect(modules.length).toBeGreaterThan(5);
  const withExample = new Set(examples().map(({ place }) => place));
  expect(modules.filter((module) => !withExample.has(module))).toEqual([]);
});

let file: Awaited<ReturnType<typeof makeFile>>;
beforeAll(async () => {
  file = await makeFile({ format: "mp4", video: X264 });
});
afterAll(() => file[Symbol.asyncDispose]());

test.each(examples())("the example of $place runs", async ({ code }) => {
  const stream = await arena.weir.client.streams.create({ name: "from an example", profiles: [] });
  const timestamp = Date.now();
  const body = JSON.stringify({ id: "d1", event: "stream.started", timestamp });
  const digest = createHmac("sha256", SECRET).update(body).digest("hex");
  const env = {
    PATH: process.env.PATH,
    WEIR: arena.weir.url,
    KEY: arena.weir.apiKey,
    STREAM_ID: stream.id,
    PLAYBACK_ID: stream.playbackId,
    SECRET,
    BODY: body,
    SIGNATURE: `t=${timestamp},v1=${digest}`,
    FILE: file.path,
  };
  const args = ["--input-type=module-typescript", "--eval", prelude(code)];
  await run(process.execPath, args, { cwd: CLIENT, env, timeout: 60_000 });
});
