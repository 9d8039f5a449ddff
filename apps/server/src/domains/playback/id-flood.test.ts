import type { Stream } from "@weir/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DatabaseBusy } from "../../platform/database-away.ts";
import { startTestDomains, type TestDomains, viewerOf } from "../domain-test-kit.ts";
import { newId, newPlaybackId } from "../ids.ts";

const UNKNOWN_ID = "0000111122223333";
const MAX_WAITING = 500;

let kit: TestDomains;
let stream: Stream;

beforeAll(async () => {
  kit = await startTestDomains();
  stream = (await kit.call("POST", "/api/stream", { name: "stage" })).json();
  await open(UNKNOWN_ID);
});

afterAll(() => kit[Symbol.asyncDispose]());

const open = (playbackId: string) => kit.domains.playbackGate.open(viewerOf(playbackId));

/** Every connection of viewers is taken until `release`, and as many questions wait as may. */
async function flood() {
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let holding = 0;
  const holders = Array.from({ length: 2 }, () =>
    kit.viewers.connection().execute(async () => {
      if (++holding === 2) held.resolve();
      await release.promise;
    }),
  );
  await held.promise;
  const waiting = Array.from({ length: MAX_WAITING }, () => open(newPlaybackId(newId())));
  return {
    async release() {
      release.resolve();
      await Promise.all([...holders, ...waiting]);
    },
  };
}

it("while strangers ask for ids without end, publishing, heartbeats, facts and the API do not wait", async () => {
  const strangers = await flood();
  try {
    await expect(open(newPlaybackId(newId()))).rejects.toBeInstanceOf(DatabaseBusy);
    const asked = await kit.call("GET", `/api/playback/${newPlaybackId(newId())}`, undefined, {});
    expect([asked.statusCode, asked.headers["retry-after"]]).toEqual([503, "5"]);
    expect((await kit.call("GET", `/api/playback/${newId()}`, undefined, {})).statusCode).toBe(503);

    expect((await kit.call("GET", "/api/stream")).statusCode).toBe(200);
    const { publishGate, eventSink } = kit.domains;
    const request = { streamKey: stream.streamKey ?? "", remoteAddress: "192.0.2.1", protocol: "rtmp" } as const;
    const decision = await publishGate.authorize(request);
    if (!decision.ok) throw new Error(`refused: ${decision.reason}`);
    expect(await publishGate.begin(decision.grant, kit.clock.now())).not.toBeNull();
    await eventSink.settle();
  } finally {
    await strangers.release();
  }
});

it("what no id looks like, and ids that led nowhere a moment ago, are not looked up", async () => {
  const strangers = await flood();
  try {
    for (const id of ["nonsense", `${UNKNOWN_ID}0`, UNKNOWN_ID, "A".repeat(16)])
      expect(await open(id)).toEqual({ ok: false, reason: "denied" });
    expect((await kit.call("GET", `/api/playback/${UNKNOWN_ID}`, undefined, {})).statusCode).toBe(404);
    expect((await kit.call("GET", "/api/playback/nonsense", undefined, {})).statusCode).toBe(404);
  } finally {
    await strangers.release();
  }
});

it("who watches already is asked about although strangers wait", async () => {
  const strangers = await flood();
  try {
    const { viewer } = viewerOf("");
    const pass = { kind: "jwt", signingKeyId: newId(), expiresAt: 0 } as const;
    expect(await kit.domains.playbackGate.recheck(stream.playbackId, pass, viewer)).toBeDefined();
  } finally {
    await strangers.release();
  }
});
