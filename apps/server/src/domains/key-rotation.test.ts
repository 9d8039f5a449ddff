import type { Stream } from "@weir/contract";
import { describe, expect, it } from "vitest";
import { WINDOW_MS } from "./domain-test-kit.ts";
import {
  authorize,
  ended,
  kit,
  now,
  pass,
  publish,
  read,
  readSession,
  segment,
  setUpLiveRig,
  states,
  stream,
  tell,
} from "./live-test-rig.ts";

setUpLiveRig();

const rotate = async (): Promise<Stream> => (await kit.call("POST", `/api/stream/${stream.id}/rotate-key`)).json();

/** Publish with whatever key the stream has now. */
async function publishAgain() {
  const { streamKey = "" } = await read();
  const decision = await kit.domains.publishGate.authorize({
    protocol: "rtmp",
    streamKey,
    remoteAddress: "127.0.0.1",
  });
  if (!decision.ok) throw new Error(decision.reason);
  return kit.domains.publishGate.begin(decision.grant, now());
}

describe("rotating a stream key", () => {
  it("gives the stream another key, refuses the old one as unknown, and keeps everything else", async () => {
    const rotated = await rotate();
    expect(rotated).toEqual({ ...stream, streamKey: expect.stringMatching(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/) });
    expect(rotated.streamKey).not.toBe(stream.streamKey);
    expect(await read()).toEqual(rotated);
    await expect(authorize()).rejects.toThrow("unknown-key");
    expect((await kit.call("GET", `/api/stream/key/${stream.streamKey}`)).statusCode).toBe(404);
  });

  it("while live lets the publisher go, and the session goes on with the new key within the window", async () => {
    const { grant, start } = await publish();
    await tell(kit.domains, segment(grant, start.sessionId, 1));
    await rotate();
    expect(kit.asked.stops).toContainEqual({ streamId: stream.id, why: "key-rotated" });
    expect(await read()).toMatchObject({ isActive: true, status: { state: "reconnecting" } });
    // What the old publisher's connection still tells ends nothing.
    await tell(kit.domains, ended(grant, "clean-stop"));
    expect(await publishAgain()).toMatchObject({ sessionId: start.sessionId, resume: expect.anything() });
    expect(await states()).toEqual([true]);
  });

  it("while live ends the session when nobody comes with the new key", async () => {
    const { start } = await publish();
    await rotate();
    await pass(WINDOW_MS);
    expect(await read()).toMatchObject({ isActive: false });
    expect(await readSession(start.sessionId)).toMatchObject({ isActive: false });
  });

  it("refuses who was let in with the old key and has not begun yet", async () => {
    const grant = await authorize();
    await rotate();
    expect(await kit.domains.publishGate.begin(grant, now())).toBeNull();
  });
});
