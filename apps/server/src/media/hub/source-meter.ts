import type { SourceMeasure, TrackFlow } from "../../ports/index.ts";
import { type SourcePacket, TICKS_PER_SECOND, type Track } from "../packet.ts";

const SECOND_MS = 1000;
/** What an encoder sends while it starts says nothing about its line. */
const SETTLE_MS = 10_000;
const WINDOW_SECONDS = 10;
const STOPPED_MS = 2000;
const JUMP_MEMORY_MS = 60_000;
/** A longer step from one packet to the next of its track is a jump of the clock, not a frame. */
const LONGEST_STEP_TICKS = TICKS_PER_SECOND;
/** Below this rate, a second without a picture means nothing. */
const MIN_FRAME_RATE = 4;

/** The input of one second. */
interface Second {
  frames: number;
  videoTicks: number;
  /** Media time of the track with the most. */
  mediaTicks: number;
  readonly isSettled: boolean;
}

interface Flow {
  readonly kind: Track["kind"];
  isAnnounced: boolean;
  lastAt: number;
  lastDts: number | null;
  ticks: number;
}

/**
 * Measures a publisher's input. Per packet it only adds; once a second it moves the sums into a ring of ten. It reports numbers and judges
 * nothing.
 */
export class SourceMeter {
  #dueAt = 0;
  #hasStarted = false;
  #startedAt = 0;
  /** By track id. */
  #flows: (Flow | undefined)[] = [];
  #frames = 0;
  #lastKeyframeTicks: number | null = null;
  #videoTicks = 0;
  #keyframeInterval: number | null = null;
  #seconds: Second[] = [];
  #jumpsSeen = 0;
  #jumps: number[] = [];
  #repairsSeen = 0;
  #repairs: { readonly at: number; readonly frames: number }[] = [];

  /** A new publisher, about which nothing is known. `jumps` is the timeline's count so far. */
  restart(jumps: number): void {
    this.#flows = [];
    this.#hasStarted = false;
    this.#frames = 0;
    this.#videoTicks = 0;
    this.#lastKeyframeTicks = null;
    this.#keyframeInterval = null;
    this.#seconds = [];
    this.#jumps = [];
    this.#jumpsSeen = jumps;
    this.#repairs = [];
    this.#repairsSeen = 0;
  }

  track({ id, kind }: Track): void {
    this.#flowAt(id, kind).isAnnounced = true;
  }

  packet({ trackId, kind, dts, isIndependent }: SourcePacket, now: number): void {
    if (!this.#hasStarted) this.#start(now);
    const flow = this.#flowAt(trackId, kind);
    const step = flow.lastDts === null ? 0 : dts - flow.lastDts;
    const ticks = step > 0 && step <= LONGEST_STEP_TICKS ? step : 0;
    flow.ticks += ticks;
    flow.lastDts = dts;
    flow.lastAt = now;
    if (kind === "audio") return;
    if (ticks > 0) this.#frames++;
    this.#videoTicks += ticks;
    if (!isIndependent) return;
    if (this.#lastKeyframeTicks !== null) this.#keyframeInterval = this.#videoTicks - this.#lastKeyframeTicks;
    this.#lastKeyframeTicks = this.#videoTicks;
  }

  /** True once a second, after it moved the sums. `jumps` and `repairs` are counts so far. */
  tick(now: number, jumps: number, repairs = 0): boolean {
    if (!this.#hasStarted || now < this.#dueAt) return false;
    let mediaTicks = 0;
    let videoTicks = 0;
    for (const flow of this.#flows) {
      if (!flow) continue;
      mediaTicks = Math.max(mediaTicks, flow.ticks);
      if (flow.kind === "video") videoTicks = flow.ticks;
      flow.ticks = 0;
    }
    // If the check comes late, as after a lost source, a second is not a second.
    const isWhole = now - this.#dueAt < SECOND_MS;
    if (isWhole) this.#seconds.push({ frames: this.#frames, videoTicks, mediaTicks, isSettled: this.#isSettled(now) });
    if (this.#seconds.length > WINDOW_SECONDS) this.#seconds.shift();
    this.#frames = 0;
    this.#dueAt = isWhole ? this.#dueAt + SECOND_MS : now + SECOND_MS;
    for (; this.#jumpsSeen < jumps; this.#jumpsSeen++) this.#jumps.push(now);
    while ((this.#jumps[0] ?? now) <= now - JUMP_MEMORY_MS) this.#jumps.shift();
    if (repairs > this.#repairsSeen) this.#repairs.push({ at: now, frames: repairs - this.#repairsSeen });
    this.#repairsSeen = repairs;
    while ((this.#repairs[0]?.at ?? now) <= now - JUMP_MEMORY_MS) this.#repairs.shift();
    return true;
  }

  /** The current metrics, over the last ten whole seconds. */
  measure(now: number): Omit<SourceMeasure, "leftOut"> {
    const video = this.#flowOf("video", now);
    const frames = sum(this.#seconds, (second) => second.frames);
    const videoTicks = sum(this.#seconds, (second) => second.videoTicks);
    const frameRate = videoTicks > 0 ? Math.round((frames / videoTicks) * TICKS_PER_SECOND * 100) / 100 : null;
    const isDense = this.#announced("audio") || (frameRate ?? 0) >= MIN_FRAME_RATE;
    return {
      measuredSeconds: this.#seconds.length,
      frameRate,
      keyframeIntervalMs: this.#keyframeIntervalMs(),
      video,
      audio: this.#flowOf("audio", now),
      starvedSeconds: isDense ? this.#seconds.filter(isStarved).length : 0,
      clockJumps: this.#jumps.length,
      clockRepairs: this.#repairs.reduce((frames, repair) => frames + repair.frames, 0),
    };
  }

  #isSettled(now: number): boolean {
    return now - this.#startedAt > SETTLE_MS;
  }

  #start(now: number): void {
    this.#hasStarted = true;
    this.#startedAt = now;
    this.#dueAt = now + SECOND_MS;
    for (const flow of this.#flows) if (flow) flow.lastAt = now;
  }

  #flowAt(trackId: Track["id"], kind: Track["kind"]): Flow {
    this.#flows[trackId] ??= { kind, isAnnounced: false, lastAt: this.#startedAt, lastDts: null, ticks: 0 };
    return this.#flows[trackId];
  }

  /** The first track of the kind; undefined if none is announced. */
  #announced(kind: Track["kind"]): Flow | undefined {
    return this.#flows.find((flow) => flow?.kind === kind && flow.isAnnounced);
  }

  #flowOf(kind: Track["kind"], now: number): TrackFlow {
    const flow = this.#announced(kind);
    if (!flow) return "none";
    return now - flow.lastAt >= STOPPED_MS ? "stopped" : "flowing";
  }

  #keyframeIntervalMs(): number | null {
    if (!this.#announced("video")) return null;
    const since = this.#videoTicks - (this.#lastKeyframeTicks ?? 0);
    return Math.round(Math.max(this.#keyframeInterval ?? 0, since) / (TICKS_PER_SECOND / 1000));
  }
}

const isStarved = ({ isSettled, mediaTicks }: Second): boolean => isSettled && mediaTicks < TICKS_PER_SECOND / 2;

function sum(seconds: readonly Second[], of: (second: Second) => number): number {
  return seconds.reduce((total, second) => total + of(second), 0);
}

/** Segments are cut after 4 s without a keyframe; from here on it is certain that none came in time. */
const LATE_KEYFRAME_MS = 4500;
const NO_KEYFRAME_MS = 20_000;
const MANY_STARVED = 3;

/** The state whose changes are reported at once. Deliberately coarse: the receiver of the numbers judges them. */
export function urgentStateOf({
  video,
  audio,
  keyframeIntervalMs,
  starvedSeconds,
  clockJumps,
  clockRepairs,
}: Omit<SourceMeasure, "leftOut">): string {
  const interval = keyframeIntervalMs ?? 0;
  const keyframes = interval >= NO_KEYFRAME_MS ? "none" : interval >= LATE_KEYFRAME_MS ? "late" : "timely";
  return [video, audio, keyframes, starvedSeconds >= MANY_STARVED, clockJumps, clockRepairs > 0].join();
}
