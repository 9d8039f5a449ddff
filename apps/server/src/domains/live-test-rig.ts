import type { Session, Stream } from "@weir/contract";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type {
  MediaFact,
  PublishGrant,
  RecordedSegment,
  SegmentClosed,
  SegmentTranscoded,
  SessionStart,
  SourceMetrics,
} from "../ports/index.ts";
import { startTestDomains, type TestDomains } from "./domain-test-kit.ts";
import { EventLog } from "./events/index.ts";
import type { Domains } from "./index.ts";
import { GOOD_SOURCE } from "./source-measure-rig.ts";
import { streamSubject } from "./subject.ts";

/** The domain floor of a test file, and the stream that is new for each of its tests. */
export let kit: TestDomains;
export let stream: Stream;

/** Call once in a test file: the helpers below speak to its domain floor, as a media floor would. */
export function setUpLiveRig(): void {
  beforeAll(async () => {
    kit = await startTestDomains();
  });
  afterAll(() => kit[Symbol.asyncDispose]());
  beforeEach(async () => {
    stream = (await kit.call("POST", "/api/stream", { name: "stage", record: true })).json();
  });
}

export const now = () => kit.clock.now();
export const read = async (): Promise<Stream> => (await kit.call("GET", `/api/stream/${stream.id}`)).json();
export const readSession = async (id: string): Promise<Session> => (await kit.call("GET", `/api/session/${id}`)).json();
export const events = async () =>
  (await new EventLog().since(kit.db, streamSubject(stream.id), 0, 100)).map(({ event }) => event);
export const states = async () =>
  (await events()).flatMap((event) => (event.type === "stream_state" ? [event.state.active] : []));

export async function authorize(domains: Domains = kit.domains): Promise<PublishGrant> {
  const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "127.0.0.1" } as const;
  const decision = await domains.publishGate.authorize(request);
  if (!decision.ok) throw new Error(decision.reason);
  return decision.grant;
}

export async function publish(domains: Domains = kit.domains): Promise<{ grant: PublishGrant; start: SessionStart }> {
  const grant = await authorize(domains);
  const start = await domains.publishGate.begin(grant, now());
  if (!start) throw new Error("not begun");
  return { grant, start };
}

/** Report, and wait until it is in the rows. */
export async function tell(domains: Domains, ...facts: MediaFact[]): Promise<void> {
  for (const fact of facts) domains.eventSink.report(fact);
  await domains.eventSink.settle();
}

export function ended(grant: PublishGrant, why: "clean-stop" | "source-lost"): MediaFact {
  const { streamId, epoch } = grant;
  return { type: "source-ended", streamId, epoch, at: now(), why, reason: "test", lastPacketAt: now() };
}

export function segment(grant: PublishGrant, sessionId: string, msn: number, span = "1-0000000001.m4s"): SegmentClosed {
  const row = (rendition: string, kind: "video" | "audio"): RecordedSegment => ({
    rendition,
    track: {
      kind,
      codec: kind === "video" ? "avc" : "aac",
      config: "AA==",
      timescale: 90_000,
      codecString: "x",
      ...(kind === "video" ? { width: 640, height: 360 } : {}),
    },
    msn,
    epoch: grant.epoch,
    startTicks: (msn - 1) * 180_000,
    durationTicks: 180_000,
    programDateTimeMs: now() + 0.5,
    discontinuity: false,
    gap: false,
    init: "init-0a0b0c0d.mp4",
    span,
    offset: (msn - 1) * 1_000,
    length: 1_000,
  });
  return {
    type: "segment-closed",
    streamId: grant.streamId,
    epoch: grant.epoch,
    at: now(),
    sessionId,
    position: {
      nextMsn: msn + 1,
      discontinuitySequence: 0,
      endTicks: msn * 180_000,
      targetDuration: 2,
      neededTargetDuration: 2,
      sound: null,
    },
    durationSeconds: 2,
    bytes: 2_000,
    recorded: [row("source", "video"), row("audio", "audio")],
  };
}

/** A `measured` fact about a source and its ladder. */
export function measured(grant: PublishGrant, sessionId: string, change: Partial<SourceMetrics> = {}): SourceMetrics {
  return {
    type: "source-metrics",
    streamId: grant.streamId,
    epoch: grant.epoch,
    at: now(),
    sessionId,
    source: GOOD_SOURCE,
    recordingRoom: null,
    mediaTimeMs: 0,
    ingestRate: 250_000,
    outgoingRate: 0,
    transcoding: null,
    srt: null,
    webrtc: { publisher: null, viewers: null, hasBFrames: false },
    targets: [],
    ...change,
  };
}

/** The outcome of a segment of 2 s in the rungs; `error` is why there is none. */
export function transcoded(
  grant: PublishGrant,
  sessionId: string,
  seqNo: number,
  error: string | null = null,
): SegmentTranscoded {
  return {
    type: "segment-transcoded",
    streamId: grant.streamId,
    epoch: grant.epoch,
    at: now(),
    sessionId,
    segment: { name: `${seqNo}.m4s`, seqNo, duration: 2, byteSize: 2_000 },
    startTime: now(),
    latencyMs: 300,
    success: error === null,
    missing: error === null ? [] : ["480p"],
    paused: [],
    isSteady: true,
    missed: error === null ? null : "died",
    attempts: [{ orchestrator: { address: "local", transcodeUri: "local:0" }, latencyMs: 300, error }],
    renditionBytes: error === null ? 900 : 0,
  };
}

export const sealed = (
  grant: PublishGrant,
  sessionId: string,
  rendition: string,
  span = "1-0000000001.m4s",
): MediaFact => ({
  type: "span-sealed",
  streamId: grant.streamId,
  epoch: grant.epoch,
  at: now(),
  sessionId,
  rendition,
  span,
  bytes: 500_000,
});

/** Let time pass and the housekeeping run. */
export async function pass(ms: number): Promise<void> {
  kit.clock.advance(ms);
  await kit.domains.housekeeping.tick();
}

export const disposable = (domains: Domains) => ({ domains, [Symbol.asyncDispose]: () => domains.close() });
