import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { CustomerSite } from "./support/customer-site.ts";
import { violationsOf } from "./support/dashboard-page.ts";
import { startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";

const arena = openArena();
let folder: string;
let site: CustomerSite;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-customer-pages-"));
  site = await CustomerSite.open(folder);
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A page of another origin with these elements, which knows the states that its players were in. */
async function openPage(elements: string, prepare: (page: Page) => Promise<unknown> = async () => {}): Promise<Page> {
  const { url } = arena.weir;
  await writeFile(
    join(folder, "index.html"),
    `<!doctype html><html lang="en"><head><title>A customer's page</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <style>:root { color-scheme: light dark } body { margin: 1rem; font: 16px/1.5 sans-serif }</style>
      <script>const states = []; const told = ({ detail }) => states.push(detail.state);</script>
      <script type="module" src="${url}/player.js"></script>
      <script type="module" src="${url}/broadcast.js"></script></head>
      <body><main><h1>Main stage</h1>${elements}</main>
      <script>document.querySelector("weir-player")?.addEventListener("statechange", told);</script>
      </body></html>`,
  );
  const page = await arena.browser.context.newPage();
  onTestFinished(() => page.close());
  await prepare(page);
  await page.goto(site.origin);
  return page;
}

const player = (playbackId: string, more = ""): string =>
  `<weir-player playback-id="${playbackId}" label="Main stage" ${more}></weir-player>`;
const framesOf = (page: Page): Promise<number> =>
  page.evaluate("document.querySelector('weir-player').video?.getVideoPlaybackQuality().totalVideoFrames ?? 0");
const stateOf = (page: Page): Promise<string> => page.evaluate("document.querySelector('weir-player').state");

/** Resolves when the player has shown a second more. */
async function untilMoving(page: Page): Promise<void> {
  let before = await framesOf(page);
  const more = async (): Promise<number> => {
    const now = await framesOf(page);
    // Another connection, or another element, begins at 0.
    before = Math.min(before, now);
    return now - before;
  };
  await expect.poll(more, { timeout: 30_000 }).toBeGreaterThan(30);
}

test("a page of another site plays in real time where low latency is asked for", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  await broadcast.untilSegments(1);
  // On a busy machine HLS may be faster.
  const page = await openPage(player(broadcast.stream.playbackId, "low-latency"), (opened) =>
    opened.route("**/hls/**", (route) => route.abort()),
  );
  await untilMoving(page);
  expect(await page.evaluate("document.querySelector('weir-player').video.srcObject instanceof MediaStream")).toBe(
    true,
  );
});

test("a token that expires while it is watched is renewed by the page's function, and nobody sees it expire", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const { playbackId } = broadcast.stream;
  const signer = await TokenSigner.create(arena.weir);
  const givenAt: number[] = [];
  const renewed = `${player(playbackId)}
    <script>document.querySelector("weir-player").getToken = async () => (await fetch("/token")).text();</script>`;
  const page = await openPage(renewed, (opened) =>
    opened.route("**/token", async (route) => {
      givenAt.push(Date.now());
      await route.fulfill({ body: await signer.sign(playbackId, "24s") });
    }),
  );
  await untilMoving(page);
  // One that cannot renew its token sees it expire, later than the first one of the page.
  const other = await openPage(player(playbackId, `token="${await signer.sign(playbackId, "24s")}"`));
  await untilMoving(other);
  await expect.poll(() => stateOf(other), { timeout: 60_000 }).toBe("denied");
  await untilMoving(page);
  expect([givenAt.length > 1, await stateOf(page)]).toEqual([true, "playing"]);
  expect(await page.evaluate<string[]>("states")).not.toContain("denied");
});

test("a page waits for a broadcast, plays it, goes on after a lost network, and waits for the next one", async () => {
  const stream = await arena.weir.client.streams.create({ name: "Later", profiles: [] });
  const page = await openPage(player(stream.playbackId));
  await page.getByText("This stream is offline").waitFor();
  await using first = await startBroadcast(arena.weir);
  await first.untilSegments(1);
  const { playbackId } = first.stream;
  await page.evaluate(`document.querySelector("weir-player").setAttribute("playback-id", "${playbackId}")`);
  await untilMoving(page);

  // Of this page alone: others share its context.
  const network = await page.context().newCDPSession(page);
  const throttle = (offline: boolean) =>
    network.send("Network.emulateNetworkConditions", {
      ...{ offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
    });
  await network.send("Network.enable");
  await throttle(true);
  await expect.poll(() => stateOf(page), { timeout: 30_000 }).toBe("reconnecting");
  await page.getByText("Waiting for the broadcast").waitFor();
  await throttle(false);
  await expect.poll(() => stateOf(page), { timeout: 30_000 }).toBe("playing");
  await untilMoving(page);

  await arena.weir.client.streams.terminate(first.stream.id);
  await first.publisher.kill();
  await page.getByText("The broadcast has ended").waitFor({ timeout: 40_000 });
});

test("a viewer in real time on a page of another site goes back by key, and is live again with a press", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    stream: { record: true, dvr: "session", profiles: [] },
  });
  const page = await openPage(player(broadcast.stream.playbackId, "low-latency"));
  await untilMoving(page);
  const bar = page.getByRole("slider", { name: "Go back" });
  await expect.poll(async () => Number(await bar.getAttribute("max")), { timeout: 30_000 }).toBeGreaterThan(6);
  await bar.press("Home");
  const behind = page.locator(".w-player-behind");
  await behind.waitFor();
  // Only HLS goes back.
  await expect.poll(() => page.evaluate("document.querySelector('weir-player').video.srcObject")).toBeNull();
  await untilMoving(page);
  expect(await page.evaluate<number>("document.querySelector('weir-player').currentTime")).toBeLessThan(8);
  await page.getByRole("button", { name: "live" }).click();
  await behind.waitFor({ state: "hidden" });
  await untilMoving(page);
});

test("a broadcast goes on while its camera and its microphone are changed", async () => {
  const { client } = arena.weir;
  const stream = await client.streams.create({ name: "Two cameras", record: false, profiles: [] });
  const page = await openPage(`<weir-broadcast stream-key="${stream.streamKey}"></weir-broadcast>`);
  const said: string[] = [];
  await page.exposeFunction("tell", (state: string) => said.push(state));
  await page.evaluate(
    "document.querySelector('weir-broadcast').addEventListener('statechange', ({ detail }) => tell(detail.state))",
  );
  await page.getByRole("button", { name: "Go live" }).click();
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  const viewer = await openPage(player(stream.playbackId));
  await untilMoving(viewer);

  // The browser's fake camera and its first microphone, which were taken by themselves before.
  const sent = () =>
    page.evaluate<string[]>("document.querySelector('weir-broadcast').media.getTracks().map(({ id }) => id).sort()");
  for (const [name, label] of [
    ["Camera", "fake_device_0"],
    ["Microphone", "Fake Audio Input 2"],
  ] as const) {
    const before = await sent();
    await page.getByLabel(name, { exact: true }).selectOption({ label });
    await expect.poll(sent).not.toEqual(before);
    await untilMoving(viewer);
  }
  // Sound that was there may go, and come back.
  const microphone = page.getByLabel("Microphone", { exact: true });
  await microphone.selectOption({ label: "No sound" });
  await page.getByText("The broadcast has no sound.").waitFor();
  await untilMoving(viewer);
  await microphone.selectOption({ label: "Automatic" });
  await page.getByText("The broadcast has no sound.").waitFor({ state: "hidden" });
  await untilMoving(viewer);
  expect(said.slice(said.indexOf("live")).every((state) => state === "live")).toBe(true);
  expect((await client.sessions.ofStream(stream.id)).items).toHaveLength(1);
});

const LOOKS = [390, 1440].flatMap((width) =>
  (["light", "dark"] as const).flatMap((colorScheme) => ["ltr", "rtl"].map((dir) => ({ width, colorScheme, dir }))),
);

test("the elements are accessible in every look on a page of another site, in each state", async () => {
  await using live = await startBroadcast(arena.weir);
  await using gated = await startGatedBroadcast(arena.weir);
  const offline = await arena.weir.client.streams.create({ name: "Offline", profiles: [] });
  await live.untilSegments(1);
  for (const [elements, says] of [
    [player(live.stream.playbackId), null],
    [player(offline.playbackId), "This stream is offline"],
    [player(gated.stream.playbackId), "Playback refused"],
    [player("nothing0here"), "This video does not exist"],
    [`<weir-broadcast stream-key="${offline.streamKey}"></weir-broadcast>`, "Video source"],
  ] as const) {
    const page = await openPage(elements);
    await page.emulateMedia({ reducedMotion: "reduce" });
    if (says === null) await untilMoving(page);
    else await page.getByText(says).first().waitFor();
    for (const { width, colorScheme, dir } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const overflow = await page.evaluate<number>(
        `(document.documentElement.dir = "${dir}", document.documentElement.scrollWidth - innerWidth)`,
      );
      expect([says, width, colorScheme, dir, overflow, await violationsOf(page)]).toEqual([
        ...[says, width, colorScheme, dir, 0, []],
      ]);
    }
    await page.close();
  }
}, 240_000);
