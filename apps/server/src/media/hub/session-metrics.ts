import type { Clock } from "../../platform/clock.ts";
import type { LinkMeasure, SourceMetrics, SrtMeasure } from "../../ports/index.ts";
import { type PublisherHandle, type SourcePacket, TICKS_PER_SECOND, type Track } from "../packet.ts";
import type { SessionTargets } from "../restream/session-targets.ts";
import type { Sent } from "../sent.ts";
import type { SessionOutputs } from "../session-outputs.ts";
import { ticksToMs } from "../timeline/ticks.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { SourceMeter, urgentStateOf } from "./source-meter.ts";

const METRICS_SECONDS = 10;
/** A ladder further behind than this is reported at once; from 2 s on it skips pictures. */
const LATE_LADDER_MS = 1500;

/** What is measured of a session. */
interface MeasuredSession {
  readonly timeline: Timeline;
  readonly outputs: SessionOutputs;
  readonly targets: SessionTargets;
  readonly sent: Sent;
}

export type MeasuredFigures = Pick<
  SourceMetrics,
  "source" | "mediaTimeMs" | "ingestRate" | "outgoingRate" | "transcoding" | "webrtc" | "srt" | "targets"
>;

/** Measures a session, and says when its figures are due: at its publisher's first packet, every 10 s, and within a second of a change in health. */
export class SessionMetrics {
  readonly #clock: Clock;
  readonly #session: MeasuredSession;
  readonly #meter = new SourceMeter();
  #bytesReceived = 0;
  /** When they were taken, on the monotonic clock; null before the first of a publisher. */
  #takenAt: number | null = null;
  /** What they said. */
  #taken = { bytesReceived: 0, bytesSent: 0, ladder: null as string | null, pausedRungs: 0, urgentState: "" };

  constructor(clock: Clock, session: MeasuredSession) {
    this.#clock = clock;
    this.#session = session;
  }

  /** From all publishers of the session. */
  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  /** Nothing was taken of this publisher. */
  get areNew(): boolean {
    return this.#takenAt === null;
  }

  /** A publisher begins, about which nothing is known. */
  restart(): void {
    this.#takenAt = null;
    this.#taken.bytesReceived = this.#bytesReceived;
    this.#meter.restart(this.#session.timeline.clockJumps);
  }

  track(track: Track): void {
    this.#meter.track(track);
  }

  packet(packet: SourcePacket): void {
    this.#bytesReceived += packet.data.byteLength;
    this.#meter.packet(packet, this.#session.timeline.lastPacketAt);
  }

  /** To be called with each tick of a live session. True where the figures are due. */
  tick(now: number, publisher: PublisherHandle | null): boolean {
    const isSecond = this.#meter.tick(now, this.#session.timeline.clockJumps, publisher?.clockRepairs);
    if (this.#takenAt === null) return false;
    // At whole seconds, so that many sessions report in one tick and their facts are written in one transaction.
    if (Math.floor(now / 1000) >= Math.floor(this.#takenAt / 1000) + METRICS_SECONDS) return true;
    const { ladder, pausedRungs, urgentState } = this.#taken;
    if (this.#ladderState !== ladder || this.#pausedRungs !== pausedRungs) return true;
    return isSecond && this.#urgentState(now, publisher) !== urgentState;
  }

  /** The figures since the last look. */
  take(publisher: PublisherHandle | null): MeasuredFigures {
    const { timeline, outputs, targets, sent } = this.#session;
    const now = this.#clock.monotonic();
    const seconds = this.#takenAt === null ? 0 : (now - this.#takenAt) / 1000;
    const rate = (bytes: number) => (seconds > 0 ? Math.round(bytes / seconds) : 0);
    const link = publisher?.takeLink?.() ?? null;
    const figures: MeasuredFigures = {
      source: { ...this.#meter.measure(now), leftOut: publisher?.leftOut ?? null },
      mediaTimeMs: Math.round(ticksToMs(timeline.position.endTicks, TICKS_PER_SECOND)),
      ingestRate: rate(this.#bytesReceived - this.#taken.bytesReceived),
      outgoingRate: rate(sent.bytes + sent.bytesElsewhere - this.#taken.bytesSent),
      transcoding: outputs.ladder?.report ?? null,
      webrtc: {
        publisher: link && !isSrt(link) ? link : null,
        viewers: sent.webrtc?.take() ?? null,
        hasBFrames: this.#hasBFrames,
      },
      srt: link && isSrt(link) ? link : null,
      targets: targets.reports,
    };
    this.#takenAt = now;
    this.#taken = {
      bytesReceived: this.#bytesReceived,
      bytesSent: sent.bytes + sent.bytesElsewhere,
      ladder: this.#ladderState,
      pausedRungs: this.#pausedRungs,
      urgentState: this.#urgentState(now, publisher),
    };
    return figures;
  }

  get #ladderState(): string | null {
    return this.#session.outputs.ladder?.status.state ?? null;
  }

  get #pausedRungs(): number {
    return this.#session.outputs.ladder?.pausedRungs ?? 0;
  }

  get #hasBFrames(): boolean {
    return this.#session.sent.webrtc?.hasBFrames ?? false;
  }

  /** The state whose changes are reported at once. */
  #urgentState(now: number, publisher: PublisherHandle | null): string {
    const isLadderLate = (this.#session.outputs.ladder?.lagMs ?? 0) >= LATE_LADDER_MS;
    return [
      urgentStateOf(this.#meter.measure(now)),
      isLadderLate,
      this.#hasBFrames,
      publisher?.linkState ?? "",
      publisher?.leftOut ?? "",
      this.#session.targets.urgentState,
    ].join();
  }
}

const isSrt = (link: LinkMeasure | SrtMeasure): link is SrtMeasure => "latencyMs" in link;
