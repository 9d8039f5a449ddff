/**
 * READ FIRST. The whole live flow of one session, top to bottom; nothing downstream calls upstream.
 *
 *   ingest/…            a socket becomes Track and SourcePacket                       (packet.ts)
 *     ▼
 *   hub/                who may write, take over, come back; when a source is lost
 *     ▼
 *   timeline/           source clock → T; stretches; one cutter for all renditions    → Sample, Cut
 *     ▼
 *   packaging/          samples → parts → segments, in memory, one LiveRendition each
 *     ├──▼
 *     │  delivery/      playlists and bytes for viewers, read from the LiveRenditions
 *     ▼
 *   packaging/segment-ledger   a segment closed in every rendition
 *     ▼
 *   recording/          bytes to the spool, spans to the object store; facts to the event sink
 */
import { createHash } from "node:crypto";
import { initSegment } from "@weir/formats/mp4";
import type { Clock } from "../platform/clock.ts";
import type { TimelinePosition } from "../ports.ts";
import type { MediaMemory } from "./memory-pool.ts";
import { LivePlaylist } from "./packaging/hls/live-playlist.ts";
import { LiveRendition } from "./packaging/live-rendition.ts";
import type { InitSegment, LiveSegment } from "./packaging/live-segment.ts";
import { PartTarget } from "./packaging/part-target.ts";
import { RenditionPackager } from "./packaging/rendition-packager.ts";
import { type RenditionSegment, SegmentLedger } from "./packaging/segment-ledger.ts";
import { TICKS_PER_SECOND, type Track } from "./packet.ts";
import { Timeline } from "./timeline/timeline.ts";
import type { Cut, Sample, TimelineSink } from "./timeline/timeline-sink.ts";

/** Renditions are named `source` and `audio`; rungs of a ladder get short ids of their own. */
const RENDITION_NAMES = { video: "source", audio: "audio" } as const;

export interface LivePipelineSettings {
  readonly clock: Clock;
  /** Memory of packets, which comes back when they are packaged, and of parts. */
  readonly memory: MediaMemory;
  /** Where an earlier owner of the session stopped; null for a new session. */
  readonly resume: TimelinePosition | null;
  /** A segment is closed in every rendition. */
  readonly onSegment: (segments: readonly RenditionSegment[], position: TimelinePosition) => void;
  readonly onUnstable: (reason: string) => void;
}

interface Branch {
  readonly rendition: LiveRendition;
  readonly packager: RenditionPackager;
  readonly playlist: LivePlaylist;
}

/** From source packets to the live window of each rendition. */
export class LivePipeline {
  readonly timeline: Timeline;
  readonly #clock: Clock;
  readonly #memory: MediaMemory;
  readonly #branches = new Map<string, Branch>();
  readonly #partTarget = new PartTarget();
  readonly #ledger: SegmentLedger;

  constructor({ clock, memory, resume, onSegment, onUnstable }: LivePipelineSettings) {
    this.#clock = clock;
    this.#memory = memory;
    this.#ledger = new SegmentLedger((segments) => onSegment(segments, this.timeline.position));
    const sink: TimelineSink = {
      stretch: (tracks) => this.#stretch(tracks),
      cut: (cut) => this.#cut(cut),
      sample: (sample) => this.#branches.get(RENDITION_NAMES[sample.kind])?.packager.sample(sample satisfies Sample),
      pause: (ticks) => this.#pause(ticks),
    };
    this.timeline = new Timeline({ clock, sink, resume, onUnstable });
  }

  get renditions(): readonly LiveRendition[] {
    return [...this.#branches.values()].map(({ rendition }) => rendition);
  }

  playlist(rendition: string): LivePlaylist | undefined {
    return this.#branches.get(rendition)?.playlist;
  }

  /** The session is over: playlists end. */
  end(): void {
    this.timeline.pause();
    for (const { rendition } of this.#branches.values()) rendition.end();
  }

  #stretch(tracks: readonly Track[]): void {
    for (const { packager } of this.#branches.values()) packager.useInit(null);
    for (const track of tracks) this.#branch(track).packager.useInit(initOf(track));
    if (!tracks.some((track) => track.kind === "video")) this.#partTarget.decideByAudio();
  }

  #cut(cut: Cut): void {
    this.#ledger.expect(cut.msn, this.#branches.size);
    for (const { packager } of this.#branches.values()) packager.cut(cut);
  }

  #pause(ticks: number): void {
    for (const { packager } of this.#branches.values()) packager.pause(ticks);
  }

  #branch(track: Track): Branch {
    const name = RENDITION_NAMES[track.kind];
    const known = this.#branches.get(name);
    if (known) return known;
    const { discontinuitySequence } = this.timeline.position;
    const rendition = new LiveRendition(name, discontinuitySequence, this.#clock);
    const onSegment = (of: LiveRendition, segment: LiveSegment) => this.#ledger.closed(of, segment);
    const packager = new RenditionPackager(rendition, name, this.#partTarget, this.#memory, onSegment);
    const playlist = new LivePlaylist(rendition, this.#partTarget, () => this.renditions);
    const branch = { rendition, packager, playlist };
    this.#branches.set(name, branch);
    return branch;
  }
}

function initOf(track: Track): InitSegment {
  const timescale = track.kind === "video" ? TICKS_PER_SECOND : track.sampleRate;
  const bytes = initSegment({ ...track, timescale });
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
  return { name: `init-${hash}.mp4`, bytes, track, timescale };
}
