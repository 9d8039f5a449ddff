import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig, until } from "../testing/media-rig.ts";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.publishGate.nextStart = { ...rig.publishGate.nextStart, record: true };
});
afterEach(() => rig[Symbol.asyncDispose]());

const sealed = () => rig.facts.of("span-sealed").map(({ rendition, span }) => `${rendition} ${span}`);

test("a running recording is stored once, as soon as the segment is complete that a clip needs", async () => {
  const startedAt = rig.clock.now();
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  rig.plane.sealRecording("session-1", startedAt + 4_800);
  rig.plane.sealRecording("session-1", startedAt + 4_800);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sealed()).toEqual([]);
  await rig.send(publication, { seconds: 2 });
  await until(() => sealed().length >= 2, "a sealed span");
  publication.end("clean-stop", "FCUnpublish");
  await until(() => sealed().length >= 4, "the rest of the recording");
  const first = sealed().slice(0, 2).toSorted();
  expect(first.map((name) => name.split(" ")[0])).toEqual(["audio", "source"]);
  expect(sealed()).toHaveLength(4);
});
