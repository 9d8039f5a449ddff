import type { Session, Stream } from "@weir/contract";
import { MESSAGE } from "@weir/formats/rtmp";
import { expect } from "vitest";
import { RtmpTestClient } from "../../src/media/ingest/rtmp/rtmp-test-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { sleep } from "../../src/platform/retry.ts";
import { Broadcast } from "./broadcast.ts";
import { encodeFlv, type FlvTag } from "./flv-file.ts";
import type { WeirServer } from "./weir-server.ts";

const SIZE = { width: 320, height: 180, bitrateBps: 400_000 };
const AVC_NAL_UNITS = 1;

export interface NumberedSource {
  readonly seconds: number;
  readonly bFrames?: number;
  /** Each picture's timestamps differ by up to this much from regular ones; 0 leaves the rounding to milliseconds. */
  readonly jitterMs: number;
  /** Pictures come in bursts, like those of a network with this delay: the last one of a burst waits for its successor. */
  readonly burstMs: number;
}

export type RecordedSession = Session & { readonly recordingUrl: string; readonly mp4Url: string };

/** Records a broadcast of numbered pictures at 30 frames a second with keyframes every 2 s. */
export async function recordNumbered(weir: WeirServer, source: NumberedSource): Promise<RecordedSession> {
  const { currentTestName = "test" } = expect.getState();
  const stream = await weir.client.streams.create({ name: currentTestName, record: true, profiles: [] });
  await publishNumbered(weir, stream, source);
  return new Broadcast(weir, weir, stream, {}).recorded();
}

/** Publishes numbered pictures to a stream, in real time, to their end. */
export async function publishNumbered(weir: WeirServer, stream: Stream, source: NumberedSource): Promise<void> {
  const { seconds, bFrames = 0 } = source;
  const tags = await encodeFlv({ ...SIZE, seconds, bFrames, isNumbered: true, inRealTime: false });
  const { client, status } = await RtmpTestClient.publish(weir.rtmpPort, stream.streamKey ?? "");
  expect(status.level).toBe("status");
  await send(
    client,
    tags.map((tag) => jittered(tag, source.jitterMs)),
    source.burstMs,
  );
  client.command(0, "deleteStream", 9, null, 1);
  client.socket.end();
}

function jittered(tag: FlvTag, jitterMs: number): FlvTag {
  const isPicture = tag.typeId === MESSAGE.video && tag.payload[1] === AVC_NAL_UNITS;
  if (!isPicture) return tag;
  return { ...tag, timeMs: Math.max(0, tag.timeMs + Math.round((2 * Math.random() - 1) * jitterMs)) };
}

async function send(client: RtmpTestClient, tags: readonly FlvTag[], burstMs: number): Promise<void> {
  const startedAt = performance.now();
  for (const { typeId, timeMs, payload } of tags) {
    const dueMs = Math.floor(timeMs / burstMs) * burstMs + startedAt - performance.now();
    if (dueMs > 0) await sleep(systemClock, dueMs);
    client.message(typeId, payload, timeMs);
  }
}
