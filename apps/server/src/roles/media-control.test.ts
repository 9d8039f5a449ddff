import { beforeEach, expect, test, vi } from "vitest";
import type { Schema } from "../domains/index.ts";
import type { ChannelHandler } from "../platform/channel-listener.ts";
import type { Database } from "../platform/database.ts";
import { silentLog } from "../platform/log.ts";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import type { SourceTrial, StoreAnswer } from "../ports/index.ts";
import { notifyMediaControl, obeyMediaControl } from "./media-control.ts";

const channels = new Map<string, ChannelHandler[]>();
const clock = new ManualClock(0);
/** The nodes that the database knows. */
let serving: readonly string[] = ["here"];
const nodes = {
  selectFrom: () => nodes,
  select: () => nodes,
  where: () => nodes,
  orderBy: () => nodes,
  execute: async () => serving.map((id) => ({ id })),
};
const database = {
  db: nodes as unknown as Database<Schema>["db"],
  notify: async (channel: string, payload: string) => {
    for (const { message } of channels.get(channel) ?? []) message(payload);
  },
  listen: async (channel: string, handler: ChannelHandler) => {
    channels.set(channel, [...(channels.get(channel) ?? []), handler]);
    return { close: async () => {} };
  },
};
const SOURCE = { url: "https://camera.example/a.ts", headers: {} };
const TRIAL: SourceTrial = { tracks: [{ kind: "video", codec: "avc1.640028" }], leftOut: null, problem: null };
const MOMENTS = { sessionId: "session", projectId: "project", assetId: "clip", fromMs: 1, toMs: 2 };

beforeEach(() => {
  channels.clear();
  serving = ["here"];
});

async function obey(nodeId = "here", answer: () => Promise<StoreAnswer> = async () => "stored") {
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void calls.push([name, ...args]);
  const log = { ...silentLog, warn: vi.fn() };
  await obeyMediaControl(
    database,
    () => nodeId,
    {
      moved: note("moved"),
      stop: note("stop"),
      accessChanged: note("accessChanged"),
      targetsChanged: note("targetsChanged"),
      storeMoments(moments) {
        note("storeMoments")(moments);
        return answer();
      },
      measureRecording: note("measureRecording"),
      startTestBroadcast: note("startTestBroadcast"),
      trySource(source) {
        note("trySource")(source);
        return Promise.resolve(TRIAL);
      },
    },
    log,
  );
  return { calls, log };
}

test("a request of the domain floor arrives at every media node with its arguments", async () => {
  const { calls } = await obey();
  const control = notifyMediaControl(database, clock);
  await control.stop("stream", "suspended");
  await control.targetsChanged("stream");
  expect(calls).toEqual([
    ["stop", "stream", "suspended"],
    ["targetsChanged", "stream"],
  ]);
});

test("a command with an answer is answered by every node, and the best answer counts when all are there", async () => {
  serving = ["here", "there"];
  const slow = Promise.withResolvers<StoreAnswer>();
  const { calls } = await obey("here", async () => "not-here");
  await obey("there", () => slow.promise);
  let answer: StoreAnswer | null = null;
  const asked = notifyMediaControl(database, clock)
    .storeMoments(MOMENTS)
    .then((value) => {
      answer = value;
    });
  await new Promise((resolve) => setImmediate(resolve));
  expect([calls, answer]).toEqual([[["storeMoments", MOMENTS]], null]);
  slow.resolve("stored");
  await asked;
  expect(answer).toBe("stored");
});

test("a node that does not answer, or that fails, is waited for 26 s", async () => {
  serving = ["here", "gone", "broken"];
  await obey("here", async () => "not-here");
  const { log } = await obey("broken", () => Promise.reject(new Error("no")));
  const asked = notifyMediaControl(database, clock).storeMoments(MOMENTS);
  await vi.waitUntil(() => log.warn.mock.calls.length > 0);
  clock.advance(26_000);
  expect(await asked).toBe("not-here");
});

test("a command that nobody waits for and that fails ends no process: it is logged", async () => {
  const { log } = await obey("here", () => Promise.reject(new Error("no")));
  await database.notify("media_control", JSON.stringify({ name: "storeMoments", args: [MOMENTS], nodeId: null }));
  await vi.waitUntil(() => log.warn.mock.calls.length > 0);
  expect(log.warn.mock.calls[0]?.[0]).toMatchObject({ command: "storeMoments" });
});

test("a source is tried by one node, whose answer counts; a node that is silent is waited for 15 s", async () => {
  serving = ["here", "there"];
  const [here, there] = [await obey("here"), await obey("there")];
  expect(await notifyMediaControl(database, clock).trySource(SOURCE)).toEqual(TRIAL);
  expect([here.calls, there.calls]).toEqual([[["trySource", SOURCE]], []]);
  serving = ["gone"];
  const asked = notifyMediaControl(database, clock).trySource(SOURCE);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(15_000);
  expect(await asked).toMatchObject({ tracks: [], problem: expect.stringContaining("did not answer") });
  serving = [];
  await expect(notifyMediaControl(database, clock).trySource(SOURCE)).rejects.toThrow("no media node");
});

test("without a media node there is no answer to wait for", async () => {
  serving = [];
  expect(await notifyMediaControl(database, clock).storeMoments(MOMENTS)).toBe("not-here");
});

test("a command whose answer may have been missed is sent again", async () => {
  serving = ["here"];
  const answers = [new Promise<StoreAnswer>(() => {}), Promise.resolve<StoreAnswer>("stored")];
  const { calls } = await obey("here", () => answers.shift() ?? Promise.resolve("failed"));
  const asked = notifyMediaControl(database, clock).storeMoments(MOMENTS);
  await vi.waitUntil(() => calls.length === 1);
  for (const { reconnected } of channels.get("media_answers") ?? []) reconnected();
  expect(await asked).toBe("stored");
  expect(calls).toHaveLength(2);
});

test("what is for another node, or of a kind that a newer process sends, is left alone", async () => {
  const { calls, log } = await obey();
  const send = (command: object) => database.notify("media_control", JSON.stringify(command));
  await send({ name: "startTestBroadcast", args: ["key", 10], nodeId: "elsewhere" });
  await send({ name: "startTestBroadcast", args: ["key", 10], nodeId: "here" });
  expect(log.warn).not.toHaveBeenCalled();
  await send({ name: "toString", args: [], nodeId: null });
  expect(calls).toEqual([["startTestBroadcast", "key", 10]]);
  expect(log.warn).toHaveBeenCalledOnce();
});

test("after a lost connection everything is asked again that may have been missed", async () => {
  const { calls } = await obey();
  for (const { reconnected } of channels.get("media_control") ?? []) reconnected();
  expect(calls).toEqual([
    ["accessChanged", "all"],
    ["targetsChanged", "all"],
  ]);
});
