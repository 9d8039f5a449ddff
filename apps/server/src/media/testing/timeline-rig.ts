import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { SessionSound, TimelinePosition } from "../../ports/index.ts";
import { Payload, type SourcePacket, type Track } from "../packet.ts";
import { TargetDuration } from "../timeline/target-duration.ts";
import { Timeline } from "../timeline/timeline.ts";
import type { Cut, Sample, TimelineSink } from "../timeline/timeline-sink.ts";
import { type Arrival, AUDIO, type SourceShape, syntheticSource, VIDEO } from "./synthetic-source.ts";

/** Feed arrivals in their own time, with the 50 ms tick that the hub gives. */
export function play(
  clock: ManualClock,
  arrivals: readonly Arrival[],
  packet: (arrival: Arrival) => void,
  tick: () => void,
): void {
  let at = 0;
  let nextTick = 0;
  const goTo = (to: number): void => {
    while (nextTick <= to) {
      clock.advance(nextTick - at);
      at = nextTick;
      tick();
      nextTick += 50;
    }
    clock.advance(to - at);
    at = to;
  };
  for (const arrival of arrivals) {
    goTo(Math.max(at, arrival.at));
    packet(arrival);
  }
}

/** A timeline on a clock that stands still, and everything it said. */
export class TimelineRig {
  readonly clock = new ManualClock(1_700_000_000_000);
  readonly cuts: Cut[] = [];
  readonly samples: Sample[] = [];
  readonly stretches: (readonly Track[])[] = [];
  readonly pauses: number[] = [];
  readonly unstable: string[] = [];
  /** Audio that was sent, and how much of it was released without being emitted. */
  readonly #sent = new Set<Payload>();
  #dropped = 0;
  readonly timeline: Timeline;

  /** `lastTargetDuration`: what the stream's last session would have needed; `lastSound`: what was heard in it. */
  constructor(
    resume: TimelinePosition | null = null,
    lastTargetDuration: number | null = null,
    lastSound: SessionSound | null = null,
  ) {
    const sink: TimelineSink = {
      stretch: (tracks) => this.stretches.push(tracks),
      cut: (cut) => this.cuts.push(cut),
      sample: (sample) => {
        sample.data.retain();
        this.samples.push({ ...sample });
      },
      pause: (ticks) => this.pauses.push(ticks),
      end() {},
    };
    this.timeline = new Timeline({
      clock: this.clock,
      sink,
      slate: null,
      resume,
      lastSound,
      target: new TargetDuration({ fixed: resume?.targetDuration ?? null, lastSession: lastTargetDuration }),
      onUnstable: (reason) => this.unstable.push(reason),
    });
  }

  /** Frames of silence between those that were sent, and frames that were left out. */
  get corrections(): { silentFrames: number; droppedFrames: number } {
    const silent = this.of("audio").filter(({ data }) => !this.#sent.has(data));
    return { silentFrames: silent.length, droppedFrames: this.#dropped };
  }

  of(kind: Sample["kind"]): Sample[] {
    return this.samples.filter((sample) => sample.kind === kind);
  }

  get cutSeconds(): number[] {
    return this.cuts.map(({ ticks }) => ticks / 90_000);
  }

  /** Announce the tracks of the shape and send its packets. */
  send(shape: SourceShape, change: (arrivals: Arrival[]) => Arrival[] = (same) => same): void {
    if (shape.video !== false) this.timeline.track(VIDEO);
    if (shape.audio !== false) this.timeline.track(AUDIO);
    this.play(change(syntheticSource(shape)));
  }

  play(arrivals: readonly Arrival[]): void {
    play(
      this.clock,
      arrivals,
      ({ packet }) => this.timeline.packet(packet.kind === "audio" ? this.#watched(packet) : packet),
      () => this.timeline.tick(),
    );
  }

  #watched(packet: SourcePacket): SourcePacket {
    const data = new Payload(packet.data.bytes, {
      release: () => {
        this.#dropped++;
        packet.data.release();
      },
    });
    this.#sent.add(data);
    return { ...packet, data };
  }

  /** Let time pass with nothing coming in. */
  wait(ms: number): void {
    for (let passed = 0; passed < ms; passed += 50) {
      this.clock.advance(50);
      this.timeline.tick();
    }
  }
}
