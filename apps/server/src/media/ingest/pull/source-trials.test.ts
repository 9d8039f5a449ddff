import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { OutboundBody, OutboundRequest } from "../../../platform/outbound/outbound.ts";
import { FakeChildren } from "../../testing/fake-transcoder.ts";
import { IngestRig } from "../ingest-rig.ts";
import { UNREACHABLE } from "./source-problem.ts";
import { SourceTrials } from "./source-trials.ts";

const TS = readFileSync(new URL("../../../../../../packages/formats/src/ts/corpus/avc-adts.m2t", import.meta.url));
const TWO_LANGUAGES = readFileSync(
  new URL("../../../../../../packages/formats/src/ts/corpus/two-languages.m2t", import.meta.url),
);
const SOURCE = { url: "http://me:pass@source.example/a.ts", headers: {} };

type Answer = "refused" | "timeout" | "network" | "silent" | "closed" | number | Buffer;

/** A source that answers in this way, on a clock that a test advances. */
function rig(answer: Answer) {
  const ingest = new IngestRig();
  const state = { open: 0 };
  const send = async ({ signal }: OutboundRequest): Promise<OutboundBody> => {
    if (answer === "refused" || answer === "timeout" || answer === "network")
      return { ok: false, reason: answer, message: "it is private" };
    const response = new PassThrough();
    state.open++;
    response.once("close", () => state.open--);
    response.on("error", () => {});
    signal.addEventListener("abort", () => response.destroy());
    const status = typeof answer === "number" ? answer : 200;
    Object.assign(response, { headers: {}, complete: answer !== "closed" });
    if (answer === "closed") response.destroy();
    else if (answer !== "silent") response.end(typeof answer === "number" ? "secret" : answer);
    return { ok: true, status, response: response as never };
  };
  const trials = new SourceTrials({
    ...{ clock: ingest.clock, log: ingest.publishing.log, memory: ingest.publishing.hub.memory.packets },
    ...{
      children: new FakeChildren(),
      outbound: {
        send,
        find: async () => ({ address: "192.0.2.1", port: 9000 }),
        dial: () => "nothing is dialled here",
      },
    },
    srt: {
      connect(_place, events) {
        setImmediate(() =>
          events.failed({ reason: "The source cannot be reached: nobody answered.", isTemporary: true }),
        );
        return { send() {}, close() {} };
      },
    },
  });
  const tried = async (ms = 0, source = SOURCE) => {
    const trial = trials.try(source);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    ingest.clock.advance(ms);
    return trial;
  };
  return { ingest, state, trials, tried };
}

it("the tracks of a source are told, its connection ends, and nothing is published", async () => {
  const { ingest, state, tried } = rig(TS);
  expect(await tried()).toEqual({
    tracks: [
      { kind: "video", codec: expect.stringMatching(/^avc1\./), width: 64, height: 48, frameRate: 10 },
      { kind: "audio", codec: "mp4a.40.2", sampleRate: 48_000, channels: 1 },
    ],
    leftOut: null,
    problem: null,
  });
  expect([state.open, ingest.asked, ingest.publications]).toEqual([0, [], []]);
});

it("tracks that a pull does not take are told, too", async () => {
  const { tracks, leftOut, problem } = await rig(TWO_LANGUAGES).tried();
  expect([tracks.map(({ kind }) => kind), problem]).toEqual([["video", "audio"], null]);
  expect(leftOut).toContain("1 further audio track");
});

it.each(["network", "timeout", "silent", "closed"] as const)(
  "a source that is unreachable in the way %j has the one sentence for it",
  async (answer) => {
    const { state, tried } = rig(answer);
    expect(await tried(10_000)).toEqual({ tracks: [], leftOut: null, problem: UNREACHABLE });
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.open).toBe(0);
  },
);

it("so has an SRT listener that nobody answers for", async () => {
  const source = { url: "srt://camera.example:9000", headers: {} };
  expect(await rig("silent").tried(0, source)).toEqual({ tracks: [], leftOut: null, problem: UNREACHABLE });
});

it.each([
  ["an address of ours", "refused", "leads to an address that is not called"],
  ["a refusal", 401, "Check its user name, password and headers"],
  ["a page", Buffer.from("<html>secret"), "neither an HLS playlist nor"],
  ["a broken playlist", Buffer.from("#EXTM3U\nsecret\n"), "cannot be read"],
  ["what is no transport stream", Buffer.alloc(188 * 100, "\x47secret"), "not an MPEG transport stream"],
  ["tables alone", TS.subarray(0, 188 * 2), "no table"],
] as const)("what is wrong with %s is a sentence, without a byte of it", async (_name, answer, sentence) => {
  const { ingest, tried } = rig(answer as Answer);
  const { tracks, problem } = await tried();
  expect([tracks, problem]).toEqual([[], expect.stringContaining(sentence)]);
  expect(problem).not.toContain("secret");
  expect(ingest.log).not.toContain("pass@");
});

it("four sources are tried at a time, and none after the end", async () => {
  const { state, trials, tried } = rig("silent");
  const running = [1, 2, 3, 4].map(() => trials.try(SOURCE));
  expect(await trials.try(SOURCE)).toMatchObject({ problem: expect.stringContaining("trying other sources") });
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(state.open).toBe(4);
  trials.close();
  expect(await Promise.all(running)).toHaveLength(4);
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(state.open).toBe(0);
  expect(await tried(10_000)).toMatchObject({ problem: UNREACHABLE });
});
