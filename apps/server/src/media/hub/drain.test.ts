import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MediaRig, until } from "../testing/media-rig.ts";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.publishGate.nextStart = { record: true };
});
afterEach(() => rig[Symbol.asyncDispose]());

const LIVE = "/hls/playstream1";

test.each([
  { how: "ends", isHeld: false },
  { how: "waits for another node", isHeld: true },
])(
  "a session of a node that is stopped $how, its recording is sealed, and its publisher may return",
  async ({ isHeld }) => {
    const { publication, publisher } = rig.publish();
    await rig.send(publication, { seconds: 5 });
    const source = await rig.sourceOf(`${LIVE}/index.m3u8`);
    await rig.plane.drain(isHeld);
    expect(publisher.closedWith).toContain("reconnect");
    expect((await rig.text(`${source}/index.m3u8`)).includes("#EXT-X-ENDLIST")).toBe(!isHeld);
    expect(rig.facts.of("source-ended").map(({ why }) => why)).toEqual(isHeld ? [] : ["clean-stop"]);
    await until(() => rig.facts.of("span-sealed").length >= 2, "both spans");
    expect(rig.plane.held()).toEqual([]);
  },
);

test("a node that is stopped waits a few seconds for an object store that takes nothing, and the next start stores the rest", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const put = vi.spyOn(rig.store, "putFile").mockReturnValue(answered);
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  const begunAt = rig.clock.monotonic();
  await passingUntil(rig.plane.drain().then(() => rig.plane.close()));
  expect(rig.clock.monotonic() - begunAt).toBeLessThan(7_000);
  expect(put).toHaveBeenCalled();
  put.mockRestore();
  answer();
  expect(rig.facts.of("span-sealed")).toEqual([]);
  await rig.restart();
  await until(() => rig.facts.of("span-sealed").length >= 2, "both spans");
});

/** Time passes until it is resolved. */
async function passingUntil(promise: Promise<void>): Promise<void> {
  let isDone = false;
  void promise.then(() => {
    isDone = true;
  });
  await until(() => {
    if (!isDone) rig.clock.advance(100);
    return isDone;
  }, "the end");
}
