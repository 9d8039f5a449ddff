import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { openMediaMemory } from "../memory-pool.ts";
import { FollowedSessions } from "./followed-sessions.ts";

const PLACE = { nodeId: "b", address: "127.0.0.1:9" };
const FOLLOWED = { playbackId: "playstream1", streamId: "stream-1", place: PLACE };
const BEGIN = { name: "source", discontinuitySequence: 0, firstMsn: 1, peakBps: 0, frameRate: null };
const SESSION = { kind: "session", sessionId: "session-1", playbackId: "playstream1" } as const;

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The owner before is about to end, and has left the session: it tells nobody of it but the next owner. Or it answers nothing. */
function open(owner: "left" | "silent") {
  const clock = new ManualClock();
  const asked: string[] = [];
  const copies = new FollowedSessions({
    clock,
    log: silentLog,
    memory: openMediaMemory().parts,
    takeLeft: () => null,
    others: {
      placeOf: () => PLACE,
      async read(_to, path, _take, signal) {
        asked.push(path);
        if (owner === "left") return 404;
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut"))));
      },
      tell: () => Promise.reject(new Error("not asked for")),
    },
  });
  onTestFinished(() => copies.close());
  const find = () => copies.find(FOLLOWED.playbackId, FOLLOWED.streamId, PLACE);
  return { clock, copies, asked, find };
}

test.each(["left", "silent"] as const)(
  "a copy that viewers asked for before stays while this node becomes the owner, and leaves nothing behind: the owner before is %s",
  async (owner) => {
    const { clock, copies, find } = open(owner);
    void find();
    await settled();
    const held = await copies.hold(FOLLOWED);
    await settled();
    // The next look comes before the owner's answer.
    clock.advance(250);
    held?.take(SESSION);
    held?.take({ kind: "rendition", begin: BEGIN });
    expect(copies.take("playstream1", "session-1")?.has("source")).toBe(true);
    held?.take(SESSION);
    expect([copies.count, copies.session("session-1")]).toEqual([0, undefined]);
  },
);

test("nobody but its holder writes a copy, also if a viewer comes meanwhile; later it is followed", async () => {
  const { clock, copies, asked, find } = open("silent");
  await copies.hold(FOLLOWED);
  void find();
  await settled();
  clock.advance(250);
  expect(asked).toEqual([]);
  clock.advance(5_000);
  await settled();
  expect(asked).toEqual(["/live/playstream1"]);
});
