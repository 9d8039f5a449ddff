import { open, truncate } from "node:fs/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { openArena } from "./support/arena.ts";
import { startChromiumThrough } from "./support/chromium.ts";
import { ReactSite } from "./support/react-site.ts";

const RULES = [
  { resources: ["asset/request-upload", "asset/:id", "stream/:id"], methods: ["get", "post"] },
  { resources: ["data/stream/:id/health", "data/stream/:id/events"], methods: ["get"] },
] as const;
/** Sparse, so that no disk has to hold the source. */
const LARGE_BYTES = 256 * 1024 ** 2;

const arena = openArena({ isLarge: true });
let site: ReactSite;

beforeAll(async () => {
  site = await ReactSite.open(
    arena,
    RULES.map(({ resources, methods }) => ({ resources: [...resources], methods: [...methods] })),
  );
});
afterAll(() => site?.[Symbol.asyncDispose]());

test("the React pieces broadcast a stream, play it, and tell its health and its events", async () => {
  const stream = await arena.weir.client.streams.create({ name: "On stage", profiles: [] });
  const broadcaster = await site.page({ streamKey: stream.streamKey ?? "", feed: stream.id, stream: stream.id });
  await broadcaster.getByRole("button", { name: "Go live" }).click();
  await broadcaster.getByRole("status").getByText("Live", { exact: true }).waitFor();
  const words = (id: string) => broadcaster.locator(`#${id}`).textContent();
  await expect.poll(() => words("stream")).toBe("On stage");
  await expect.poll(() => words("health"), { timeout: 20_000 }).toMatch(/^[1-9]\d* $/);
  await expect.poll(() => words("events"), { timeout: 20_000 }).toContain("stream_state");

  const viewer = await site.page({ playbackId: stream.playbackId });
  const frames = () =>
    viewer.evaluate("document.querySelector('weir-player')?.video?.getVideoPlaybackQuality().totalVideoFrames ?? 0");
  await expect.poll(frames, { timeout: 30_000 }).toBeGreaterThan(60);

  await broadcaster.getByRole("button", { name: "End broadcast" }).click();
  await viewer.getByText("The broadcast has ended").waitFor({ timeout: 40_000 });
});

test("a file of 256 MiB is uploaded across cut connections and a reload in one upload, and can be played", async () => {
  await using made = await makeFile({ format: "mp4", video: { encoder: "libx264", width: 320, height: 180 } });
  const file = await open(made.path, "r+");
  const { size } = await file.stat();
  // A box of a kind that readers skip, with a size of 64 bits (ISO/IEC 14496-12 4.2 and 8.1.2).
  const box = Buffer.alloc(16);
  box.writeUInt32BE(1);
  box.write("free", 4);
  box.writeBigUInt64BE(BigInt(LARGE_BYTES - size), 8);
  await file.write(box, 0, box.length, size);
  await file.close();
  await truncate(made.path, LARGE_BYTES);

  // One of its own: over the network, a file this large would be sent to the browser first.
  const browser = await startChromiumThrough([]);
  onTestFinished(() => browser.close());
  const context = await browser.newContext();
  const page = await site.page({ upload: "yes" }, context);
  const progress = async () => Number((await page.locator("#upload").textContent())?.split(" ")[1]);
  const methods: string[] = [];
  page.on("request", (request) => request.url().includes("/upload/tus") && methods.push(request.method()));
  await page.getByLabel("File").setInputFiles(made.path);
  await expect.poll(progress, { timeout: 60_000 }).toBeGreaterThan(0.2);
  // The line is dead for a while: the upload goes on by itself.
  await context.setOffline(true);
  await expect.poll(() => methods.includes("HEAD"), { timeout: 30_000 }).toBe(true);
  await context.setOffline(false);
  await expect.poll(progress, { timeout: 100_000 }).toBeGreaterThan(0.5);

  await page.reload();
  methods.length = 0;
  await page.getByLabel("File").setInputFiles(made.path);
  const said = () => page.locator("#upload").textContent();
  await expect.poll(said, { timeout: 100_000 }).toMatch(/^ready 1 [a-z0-9]+/);
  expect([methods[0], methods.includes("POST")]).toEqual(["HEAD", false]);
}, 240_000);
