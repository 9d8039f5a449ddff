import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { RestreamTarget } from "../../ports/index.ts";
import type { LadderRequest } from "../ladder/live-ladder.ts";
import type { Track } from "../packet.ts";
import { PageMemory } from "../page-memory.ts";
import type { SessionOutputs } from "../session-outputs.ts";
import { openTimeline } from "../session-timeline.ts";
import { FakeChildren } from "../testing/fake-transcoder.ts";
import { type Arrival, AUDIO, type SourceShape, syntheticSource, VIDEO } from "../testing/synthetic-source.ts";
import { warningLog } from "../testing/warning-log.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { LineMemory } from "./line-pages.ts";
import { RtmpFormat } from "./rtmp-format.ts";
import { SessionTargets } from "./session-targets.ts";
import type { ConnectTarget, TargetConnection, TargetConnectionHandler } from "./target-connection.ts";
import type { TargetEvent, TargetStatus } from "./target-status.ts";

export const TARGET: RestreamTarget = {
  id: "target-1",
  name: "Elsewhere",
  profile: "source",
  videoOnly: false,
  slate: false,
  url: "rtmp://target.example/live/Right-Key",
  givenUp: null,
};

/** A target controlled by a test. It reads everything immediately unless `isReading` is false. */
export class FakeTarget implements TargetConnection {
  readonly url: string;
  readonly handler: TargetConnectionHandler;
  /** The memory that it was given. */
  readonly given: Uint8Array[] = [];
  readonly written: Uint8Array[] = [];
  /** Data not yet read. A late target reads the memory's content at that time. */
  readonly #waiting: Uint8Array[] = [];
  isReading = true;
  queuedBytes = 0;
  ended: "closed" | "destroyed" | null = null;

  constructor(url: string, handler: TargetConnectionHandler) {
    this.url = url;
    this.handler = handler;
  }

  /** Accepts the stream. */
  accept(): void {
    this.handler.ready({ key: "rtmp 1", create: () => new RtmpFormat(1) });
  }

  fail(reason = "gone", isTemporary = true): void {
    this.handler.failed({ reason, isTemporary });
  }

  write(bytes: Uint8Array): void {
    this.given.push(bytes);
    this.#waiting.push(bytes);
    this.queuedBytes += bytes.byteLength;
    if (this.isReading) this.take(bytes.byteLength);
  }

  /** Reads this much of the pending data. */
  take(bytes: number): void {
    for (let left = bytes; left > 0; ) {
      const piece = this.#waiting.shift();
      if (!piece) return;
      const taken = piece.subarray(0, left);
      this.written.push(Uint8Array.from(taken));
      this.queuedBytes -= taken.byteLength;
      if (taken.byteLength < piece.byteLength) this.#waiting.unshift(piece.subarray(left));
      left -= taken.byteLength;
    }
  }

  close(): void {
    this.ended = "closed";
  }

  destroy(): void {
    this.ended = "destroyed";
  }
}

export interface RestreamRigSettings {
  /** A ladder whose rungs are encoded instantly; none by default. */
  readonly ladder?: Pick<LadderRequest, "profiles" | "isDefault" | "forTargets" | "admission">;
  readonly connect?: ConnectTarget;
  readonly maxQueued?: number;
  /** Viewers see a slate while the source is away. */
  readonly hasSlate?: boolean;
}

/** The targets of a session with its timeline and a manual clock. */
export class RestreamRig {
  readonly clock = new ManualClock();
  /** All connections, in order. */
  readonly made: FakeTarget[] = [];
  readonly changes: string[] = [];
  readonly sent = { bytes: 0, skippedMs: 0 };
  /** The fields of each. */
  readonly warnings: unknown[] = [];
  readonly memory = new LineMemory();
  readonly timeline: Timeline;
  readonly outputs: SessionOutputs;
  readonly targets: SessionTargets;
  asked: () => Promise<readonly RestreamTarget[]> = async () => [];

  constructor({ connect, ladder, hasSlate = false, maxQueued = 4 * 1024 * 1024 }: RestreamRigSettings = {}) {
    const { timeline, outputs } = openTimeline({
      clock: this.clock,
      memory: new PageMemory(),
      resume: null,
      lastTargetDuration: null,
      lastSound: null,
      hasSlate,
      onSegment: () => {},
      onUnstable: () => {},
      ladder: ladder
        ? {
            ...ladder,
            log: silentLog,
            children: new FakeChildren(),
            encoding: { preset: "superfast", encoder: "libx264" },
            onSegment: () => {},
            recorded: new Set(),
            onRungs: () => {},
          }
        : null,
    });
    this.timeline = timeline;
    this.outputs = outputs;
    const fake: ConnectTarget = (url, handler) => {
      const target = new FakeTarget(url, handler);
      this.made.push(target);
      return target;
    };
    this.targets = new SessionTargets({
      clock: this.clock,
      log: warningLog(this.warnings),
      connect: connect ?? fake,
      maxQueued: () => maxQueued,
      sent: this.sent,
      memory: this.memory,
      findRendition: (profile) => this.outputs.feedOf(profile),
      ask: () => this.asked(),
      onChange: ({ id }, status, event) => this.changes.push(describe(id, status, event)),
    });
    this.targets.flow(true);
  }

  /** The newest connection. */
  get newest(): FakeTarget {
    const target = this.made.at(-1);
    if (!target) throw new Error("no connection was opened");
    return target;
  }

  get state(): string | undefined {
    return this.targets.reports[0]?.state;
  }

  /** Connects a publisher and plays this source in real time of the manual clock. */
  async send(
    shape: SourceShape,
    tracks: readonly Track[] = tracksOf(shape),
    turn?: () => Promise<void>,
  ): Promise<void> {
    this.timeline.publisher();
    for (const track of tracks) this.timeline.track(track);
    await this.play(syntheticSource(shape), turn);
  }

  /** `turn` is awaited after each 50 ms. */
  async play(arrivals: readonly Arrival[], turn?: () => Promise<void>): Promise<void> {
    let passed = 0;
    for (const { at, packet } of arrivals) {
      for (; passed + 50 <= at; passed += 50) {
        this.tick();
        if (turn) await turn();
      }
      this.timeline.packet(packet);
    }
    this.tick();
  }

  /** Advances time without packets. */
  pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 50) this.tick();
  }

  tick(): void {
    this.clock.advance(50);
    this.timeline.tick();
    this.targets.tick();
  }
}

function tracksOf({ video = true, audio = true }: SourceShape): Track[] {
  return [...(video ? [VIDEO] : []), ...(audio ? [AUDIO] : [])];
}

function describe(id: string, status: TargetStatus, event: TargetEvent): string {
  const attempt = status.state === "pending" ? ` ${status.attempt}` : "";
  return `${id} ${status.state}${attempt}${event ? ` (${event})` : ""}`;
}
