import { afterEach, beforeEach, expect, test } from "vitest";
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
