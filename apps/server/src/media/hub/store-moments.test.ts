import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig, until } from "../testing/media-rig.ts";

let rig: MediaRig;
let startedAt: number;
beforeEach(async () => {
  rig = await MediaRig.open();
  startedAt = rig.clock.now();
  rig.publishGate.nextStart = { ...rig.publishGate.nextStart, record: true };
});
afterEach(() => rig[Symbol.asyncDispose]());

const sealed = () => rig.facts.of("span-sealed").map(({ rendition, span }) => `${rendition} ${span}`);
const store = (fromSeconds: number, toSeconds: number, sessionId = "session-1") =>
  rig.plane.storeMoments({
    ...{ sessionId, projectId: "project-1", assetId: "clip-1" },
    ...{ fromMs: startedAt + fromSeconds * 1000, toMs: startedAt + toSeconds * 1000 },
  });

test("a running recording is stored once, as soon as the segment is complete that a clip needs", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  const answers = [store(1, 4.8), store(1, 4.8)];
  await new Promise((resolve) => setImmediate(resolve));
  expect(sealed()).toEqual([]);
  await rig.send(publication, { seconds: 2 });
  expect(await Promise.all(answers)).toEqual(["stored", "stored"]);
  // The answer comes after the database knows, so that the clip's rows can be read.
  expect(
    sealed()
      .map((name) => name.split(" ")[0])
      .toSorted(),
  ).toEqual(["audio", "source"]);
  publication.end("clean-stop", "FCUnpublish");
  await until(() => sealed().length >= 4, "the rest of the recording");
  expect(sealed()).toHaveLength(4);
});

test("the 51st clip of the same moments seals nothing more, and leaves no span", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  expect(await store(1, 3.5)).toBe("stored");
  const first = sealed();
  expect(first).toHaveLength(2);
  await rig.send(publication, { seconds: 3 });
  for (let n = 0; n < 50; n++) expect(await store(1, 3.5)).toBe("stored");
  expect(sealed()).toEqual(first);
});

test("a session that has just ended is stored to its end", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  publication.end("clean-stop", "FCUnpublish");
  expect(await store(0, 60)).toBe("stored");
  expect(sealed()).toHaveLength(2);
});

test("a recording left in the spool by a kill is waited for, and a session that was never here is not", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  await until(() => rig.facts.of("segment-closed").length >= 2, "recorded segments");
  await rig.restart();
  await until(() => rig.plane.figures.unsealedChapters > 0 || sealed().length > 0, "the spool to be found");
  expect(["stored", "not-here"]).toContain(await store(0, 3));
  expect(sealed()).toHaveLength(2);
  expect(await store(0, 3, "session-9")).toBe("not-here");
});

test("while the object store is away the answer says so in time", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  rig.store.putFile = () => Promise.reject(new Error("the store is away"));
  const answer = store(1, 3.5);
  await until(() => rig.plane.figures.unsealedChapters > 0, "a chapter that waits");
  // Several rounds: the deadline begins when the sealer has the chapter.
  for (let n = 0; n < 3; n++) {
    await new Promise((resolve) => setImmediate(resolve));
    rig.clock.advance(10_000);
  }
  expect(await answer).toBe("failed");
});
