import { expect, it } from "vitest";
import { ended, kit, publish, segment, setUpLiveRig, stream, tell } from "./live-test-rig.ts";

setUpLiveRig();

const set = (body: object) => kit.call("PATCH", `/api/stream/${stream.id}`, body);
const shown = async () => (await kit.call("GET", `/api/stream/${stream.id}`)).json();

it("viewers get a slate from the next session on, until it is off again", async () => {
  expect(await shown()).not.toHaveProperty("slate");
  expect((await set({ slate: "last-picture" })).statusCode).toBe(204);
  expect(await shown()).toMatchObject({ slate: "last-picture" });
  const { grant, start } = await publish();
  expect(start.slate).toBe("last-picture");
  await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "clean-stop"));
  expect((await set({ slate: "off" })).statusCode).toBe(204);
  expect(await shown()).not.toHaveProperty("slate");
  expect((await publish()).start.slate).toBe("off");
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
const setImage = (image: unknown) => kit.call("PUT", `/api/stream/${stream.id}/slate-image`, { image });

it("a stream has an image of its own for its slate, and the session gets it with its start", async () => {
  await set({ slate: "image" });
  const without = await publish();
  expect(without.start).toMatchObject({ slate: "image", slateImage: null });
  expect((await setImage(PNG.toString("base64"))).statusCode).toBe(204);
  expect(await shown()).toMatchObject({ slate: "image" });
  const { start } = await publish();
  expect(start.slateImage && PNG.equals(start.slateImage)).toBe(true);
  const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);
  expect((await setImage(jpeg.toString("base64"))).statusCode).toBe(204);
  const { start: later } = await publish();
  expect(later.slateImage && jpeg.equals(later.slateImage)).toBe(true);
  await set({ slate: "last-picture" });
  expect((await publish()).start.slateImage).toBeNull();
  expect((await setImage(null)).statusCode).toBe(204);
  await set({ slate: "image" });
  expect((await publish()).start.slateImage).toBeNull();
});

it("an image is a PNG or JPEG of a bounded size, and that of a stream of one's own", async () => {
  const svg = Buffer.from("<svg/>").toString("base64");
  const large = Buffer.concat([PNG, Buffer.alloc(512 * 1024)]).toString("base64");
  for (const image of ["", "no base64!", svg, large, `${PNG.toString("base64")}${"A".repeat(800_000)}`, 5, undefined]) {
    const { statusCode } = await setImage(image);
    expect([400, 422]).toContain(statusCode);
  }
  const unknown = "/api/stream/00000000-0000-4000-8000-000000000000/slate-image";
  expect((await kit.call("PUT", unknown, { image: PNG.toString("base64") })).statusCode).toBe(404);
});

it("no other word is a slate", async () => {
  const refused = await set({ slate: "video" });
  expect(refused.statusCode).toBeGreaterThanOrEqual(400);
  expect(await shown()).not.toHaveProperty("slate");
});
