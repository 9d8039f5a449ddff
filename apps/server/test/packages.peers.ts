import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "vite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { CustomerSite } from "./support/customer-site.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TOOLS = join(ROOT, "tools/api-generators/node_modules");
const BUILT = join(ROOT, "dist/packages");
const REACT_PAGE = fileURLToPath(new URL("support/react-page.js", import.meta.url));
/** Mostly npm requests to the registry. */
const TIMEOUT_MS = 400_000;
const run = promisify(execFile);
const NAMES = ["player", "react"] as const;
const archiveOf = (name: string): string =>
  join(BUILT, readdirSync(BUILT).find((file) => file.startsWith(`weir-${name}-`)) ?? "");

const TYPED = `
import { useRef } from "react";
import { type Upload, useStream, useStreamEvents, useUpload, WeirBroadcast, WeirClient, WeirPlayer, type WeirPlayerElement } from "@weir/react";
const client = new WeirClient({ baseUrl: "https://weir.test", apiKey: "key" });
export function Page() {
  const player = useRef<WeirPlayerElement>(null);
  const upload: Upload = useUpload(client);
  const { data } = useStream(client, "s1");
  const { events } = useStreamEvents(client, "s1", { onEvent: ({ id }) => console.log(id) });
  return (
    <main>
      <WeirPlayer ref={player} server="https://weir.test" playbackId={data?.playbackId ?? ""} onFigures={({ latencySeconds }) => console.log(latencySeconds)} />
      <WeirBroadcast server="https://weir.test" streamKey="key" onStateChange={({ state, problem }) => console.log(state, problem)} />
      <button type="button" onClick={() => player.current?.goLive()}>{upload.phase} {events.length}</button>
      {/* @ts-expect-error a player has an id to play */}
      <WeirPlayer server="https://weir.test" />
    </main>
  );
}
`;

const VUE_PAGE = `
import "@weir/player";
import { createApp, h } from "vue";
const { server, playbackId } = Object.fromEntries(new URLSearchParams(location.search));
createApp({ render: () => h("weir-player", { server, "playback-id": playbackId, label: "Main stage" }) }).mount("#root");
`;

const NEXT_PAGE = `
import { WeirPlayer } from "@weir/react";
export default async function Page({ searchParams }) {
  const { server, playbackId } = await searchParams;
  return <main><h1>Written by a server</h1><WeirPlayer server={server} playbackId={playbackId} label="Main stage" /></main>;
}
`;
const NEXT_LAYOUT = `export default ({ children }) => <html lang="en"><body>{children}</body></html>;`;

describe.skipIf(!existsSync(TOOLS))("the archives of the player and of React", () => {
  test.each(NAMES)("%s has nothing for publint to report", async (name) => {
    const { stdout } = await run(join(TOOLS, ".bin/publint"), [archiveOf(name), "--strict"]);
    expect(stdout).toContain("All good!");
  });

  test.each(NAMES)("%s has types that every import of a module finds", async (name) => {
    const options = ["--profile", "esm-only", "--no-color"];
    const { stdout } = await run(join(TOOLS, ".bin/attw"), [archiveOf(name), ...options]);
    // A problem ends it with an error; what is ignored takes the place of its "No problems found".
    expect(stdout).toContain("🟢 (ESM)");
  });

  test.each(["18.3.8", "19.2.6"])("a strict program has the types with @types/react %s", async (version) => {
    const folder = await projectOf({ "page.tsx": TYPED });
    await install(folder, `@types/react@${version}`, `react@${version.split(".")[0]}`, archiveOf("react"));
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--skipLibCheck", "false"];
    const target = [
      "--target",
      "es2022",
      "--lib",
      "es2023,dom,dom.iterable",
      "--module",
      "nodenext",
      "--jsx",
      "react-jsx",
    ];
    const compiled = run(join(TOOLS, "typescript/bin/tsc"), ["page.tsx", ...strict, ...target], { cwd: folder });
    const { stdout } = await compiled.catch((error: { stdout: string }) => error);
    expect(stdout).toBe("");
  });
});

describe("pages of customers play a live stream in Chromium", () => {
  const arena = openArena();
  test.each(["18.3.1", "19.2.0"])(
    "with React %s",
    async (version) => {
      const folder = await projectOf({});
      await copyFile(REACT_PAGE, join(folder, "page.js"));
      await install(folder, `react@${version}`, `react-dom@${version}`, archiveOf("react"));
      await untilPlayed(await bundled(folder));
    },
    TIMEOUT_MS,
  );

  test(
    "with Vue",
    async () => {
      const folder = await projectOf({ "page.js": VUE_PAGE });
      await install(folder, "vue@3.5.22", archiveOf("player"));
      await untilPlayed(await bundled(folder));
    },
    TIMEOUT_MS,
  );

  test(
    "with a plain page, without a bundler",
    async () => {
      const folder = await projectOf({});
      await install(folder, archiveOf("player"));
      const dist = "node_modules/@weir/player/dist";
      const script = readdirSync(join(folder, dist)).find((name) => /^player-\d/.test(name));
      const element = `<weir-player></weir-player><script>
        for (const [name, value] of new URLSearchParams(location.search))
          document.querySelector("weir-player").setAttribute(name === "server" ? name : "playback-id", value);
      </script>`;
      await writeFile(join(folder, "index.html"), `<script type="module" src="/${dist}/${script}"></script>${element}`);
      await untilPlayed(await siteOf(folder));
    },
    TIMEOUT_MS,
  );

  test(
    "with Next.js, whose server renders the page",
    async () => {
      const folder = await projectOf({ "app/page.jsx": NEXT_PAGE, "app/layout.jsx": NEXT_LAYOUT });
      await install(folder, "next@16.0.1", "react@19.2.0", "react-dom@19.2.0", archiveOf("react"));
      const env = { PATH: process.env.PATH, NEXT_TELEMETRY_DISABLED: "1" };
      const next = join(folder, "node_modules/next/dist/bin/next");
      await run(process.execPath, [next, "build"], { cwd: folder, env });
      const port = await freePort();
      const server = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", String(port)], {
        cwd: folder,
        env,
        stdio: "ignore",
      });
      onTestFinished(() => void server.kill("SIGKILL"));
      const origin = `http://127.0.0.1:${port}`;
      await expect
        .poll(
          () =>
            fetch(origin).then(
              ({ status }) => status,
              () => 0,
            ),
          { timeout: 60_000 },
        )
        .toBe(200);
      const html = await (await fetch(`${origin}/?playbackId=p1&server=s`)).text();
      expect(html).toMatch(/Written by a server.*<weir-player style="display:block/s);
      await untilPlayed(origin);
    },
    TIMEOUT_MS,
  );

  async function untilPlayed(origin: string): Promise<void> {
    await using broadcast = await startBroadcast(arena.weir);
    await broadcast.untilSegments(1);
    const page = await arena.browser.context.newPage();
    onTestFinished(() => page.close());
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    const { playbackId } = broadcast.stream;
    await page.goto(`${origin}/?${new URLSearchParams({ server: arena.weir.url, playbackId })}`);
    const frames = () =>
      page.evaluate("document.querySelector('weir-player')?.video?.getVideoPlaybackQuality().totalVideoFrames ?? 0");
    await expect.poll(frames, { timeout: 30_000 }).toBeGreaterThan(30);
    expect(errors).toEqual([]);
  }
});

/** A folder with these files, for the length of the test. */
async function projectOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "weir-packages-peers-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ "package.json": '{ "private": true, "type": "module" }', ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

const install = (folder: string, ...packages: string[]): Promise<unknown> =>
  run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages], { cwd: folder });

/** Bundles `page.js`, and serves it. */
async function bundled(folder: string): Promise<string> {
  await writeFile(join(folder, "index.html"), '<div id="root"></div><script type="module" src="/page.js"></script>');
  await build({ root: folder, configFile: false, logLevel: "error" });
  return siteOf(join(folder, "dist"));
}

async function siteOf(folder: string): Promise<string> {
  const site = await CustomerSite.open(folder);
  onTestFinished(() => site[Symbol.asyncDispose]());
  return site.origin;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
