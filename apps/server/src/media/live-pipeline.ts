/**
 * READ FIRST. The whole live flow of one session, top to bottom; nothing downstream calls upstream.
 *
 *   ingest/…            a socket becomes Track and SourcePacket                       (packet.ts)
 *     ▼
 *   hub/                who may write, take over, come back; when a source is lost
 *     ▼
 *   LivePipeline        the entrance: publisher, track, packet, tick, pause, end    (below)
 *     ▼
 *   timeline/           source clock → T; stretches; one cutter for all renditions    → Sample, Cut
 *     ▼
 *     ├──▶  feed/       the same samples and cuts for any number of readers: the ladder is one → more LiveRenditions
 *     │  restream/      targets are others, of the source or of a rung: bytes to other platforms
 *     ▼
 *   packaging/          samples → parts → segments, in memory, one LiveRendition each
 *     ├──▼
 *     │  delivery/      playlists and bytes for viewers, read from the LiveRenditions
 *     ▼
 *   packaging/segment-ledger   a segment closed in every rendition
 *     ▼
 *   recording/          bytes to the spool, spans to the object store; facts to the event sink
 */
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { LadderProfile, SessionSound, TimelinePosition, TranscodingReport } from "../ports/index.ts";
import { RenditionFeed } from "./feed/rendition-feed.ts";
import { type Feed, SessionFeed } from "./feed/session-feed.ts";
import { type LadderResources, LiveLadder, type TranscodedSegment } from "./ladder/live-ladder.ts";
import { type ListedRendition, newestTrack } from "./packaging/hls/live-multivariant.ts";
import { LivePlaylist } from "./packaging/hls/live-playlist.ts";
import { initOfTrack } from "./packaging/init-of-track.ts";
import { LiveRendition } from "./packaging/live-rendition.ts";
import type { LiveSegment } from "./packaging/live-segment.ts";
import { PartTarget } from "./packaging/part-target.ts";
import { renditionNameOf } from "./packaging/rendition-name.ts";
import { RenditionPackager } from "./packaging/rendition-packager.ts";
import { type RenditionSegment, SegmentLedger } from "./packaging/segment-ledger.ts";
import { type SourcePacket, type Track, VIDEO_TRACK, type VideoTrack } from "./packet.ts";
import type { PageMemory } from "./page-memory.ts";
import { TargetDuration } from "./timeline/target-duration.ts";
import { Timeline } from "./timeline/timeline.ts";
import type { Cut, Sample, TimelineSink } from "./timeline/timeline-sink.ts";

export interface LivePipelineSettings {
  readonly clock: Clock;
  /** Memory of parts. */
  readonly memory: PageMemory;
  /** Where an earlier owner of the session stopped; null for a new session. */
  readonly resume: TimelinePosition | null;
  /** The target duration that the stream's last session would have needed; null where it had none. */
  readonly lastTargetDuration: number | null;
  /** The sound of the stream's last session; null where it had none. */
  readonly lastSound: SessionSound | null;
  /** A segment is closed in every rendition. */
  readonly onSegment: (segments: readonly RenditionSegment[], position: TimelinePosition) => void;
  readonly onUnstable: (reason: string) => void;
  /** Null where the source is passed through alone. */
  readonly ladder: LadderRequest | null;
}

/** The rungs that a stream asks for, and what to make them with. */
export interface LadderRequest extends LadderResources {
  readonly log: Log;
  readonly profiles: readonly LadderProfile[];
  /** The documented default ladder: rungs not smaller than the source are left out. */
  readonly isDefault: boolean;
  /** Profiles that multistream targets are to get. */
  readonly forTargets: ReadonlySet<string>;
  /** Names of the profiles whose rungs `onRungs` is told of. */
  readonly recorded: ReadonlySet<string>;
  readonly onSegment: (segment: TranscodedSegment) => void;
  readonly onRungs: (segments: readonly RenditionSegment[]) => void;
}

/** The name that targets have for the source itself. */
const SOURCE = "source";

interface Branch {
  readonly rendition: LiveRendition;
  readonly packager: RenditionPackager;
  readonly playlist: LivePlaylist;
  /** Of the present stretch; null where it has none. */
  announced: Track | null;
}

/** From source packets to the live window of each rendition. */
export class LivePipeline {
  readonly #timeline: Timeline;
  readonly #clock: Clock;
  readonly #memory: PageMemory;
  readonly #branches = new Map<string, Branch>();
  /** The same, by the id of their track. */
  readonly #branchOfTrack: (Branch | undefined)[] = [];
  readonly #partTarget = new PartTarget();
  readonly #target: TargetDuration;
  readonly #ledger: SegmentLedger;
  readonly #feed = new SessionFeed((sink) => {
    const branch = this.#branchOfTrack[VIDEO_TRACK];
    return branch !== undefined && branch.announced !== null && branch.packager.replay(sink);
  });
  readonly #ladderRequest: LadderRequest | null;
  /** Undefined until the first video track tells what it is made from. */
  #ladder: LiveLadder | null | undefined;

  constructor(settings: LivePipelineSettings) {
    const { clock, memory, resume, lastTargetDuration, lastSound, onSegment, onUnstable, ladder } = settings;
    this.#clock = clock;
    this.#ladderRequest = ladder;
    this.#memory = memory;
    this.#ledger = new SegmentLedger((segments) => onSegment(segments, this.#timeline.position));
    const sink: TimelineSink = {
      stretch: (tracks) => this.#stretch(tracks),
      cut: (cut) => this.#cut(cut),
      sample: (sample) => this.#sample(sample),
      pause: (ticks) => this.#pause(ticks),
    };
    this.#target = new TargetDuration({ fixed: resume?.targetDuration ?? null, lastSession: lastTargetDuration });
    this.#timeline = new Timeline({ clock, sink, resume, lastSound, target: this.#target, onUnstable });
  }

  /** A publisher begins, or the same one begins again: nothing is known of its tracks and its clock. */
  publisher(): void {
    this.#timeline.publisher();
  }

  track(track: Track): void {
    this.#timeline.track(track);
  }

  packet(packet: SourcePacket): void {
    this.#timeline.packet(packet);
  }

  /** To be called every 50 ms: notices what does not come. */
  tick(): void {
    this.#timeline.tick();
  }

  /** The source is lost: open segments are closed, and the next packets begin a stretch. */
  pause(): void {
    this.#timeline.pause();
  }

  /** The session is over: playlists end. */
  end(): void {
    this.#timeline.pause();
    for (const { rendition } of this.#branches.values()) rendition.end();
    this.#feed.end();
  }

  /** Arrival of the newest packet, on the monotonic clock. */
  get lastPacketAt(): number {
    return this.#timeline.lastPacketAt;
  }

  /** How often the source's clock jumped since the session began here. */
  get clockJumps(): number {
    return this.#timeline.clockJumps;
  }

  /** Where a successor could go on. */
  get position(): TimelinePosition {
    return this.#timeline.position;
  }

  /** Where readers of the session's packets attach. */
  get feed(): Feed {
    return this.#feed;
  }

  /** The pictures of a profile with the source's sound, for a multistream target; a sentence where it is not made, null before that is known. */
  feedOf(profile: string): Feed | string | null {
    if (profile === SOURCE) return this.#feed;
    const branch = this.#ladder?.branches.find(({ rung }) => rung.name === profile);
    if (this.#branches.size === 0) return null;
    if (branch && this.#ladder?.isMaking(branch.rung)) return new RenditionFeed(branch.feed, this.#feed);
    return `The rendition "${profile}" is not being made, so there is nothing to send.`;
  }

  /** The rungs that are made now, smaller than the source, for readers of their pictures. Rungs have no B-frames. */
  get watchableRungs(): readonly { id: string; bitrateBps: number; feed: Feed }[] {
    const made = this.#ladder?.branches.filter(({ rung }) => !rung.isForTargets && this.#ladder?.isMaking(rung)) ?? [];
    return made.map(({ rung: { id, bitrateBps }, feed }) => ({ id, bitrateBps, feed }));
  }

  get renditions(): readonly LiveRendition[] {
    const rungs = this.#ladder?.branches ?? [];
    return [...this.#branches.values(), ...rungs].map(({ rendition }) => rendition);
  }

  /** The renditions that a viewer may choose from now. A rung is listed from its start on, and not while nothing can be made of it. */
  get listed(): ListedRendition[] {
    if (!this.renditions.some(newestTrack)) return [];
    const listed: ListedRendition[] = [];
    for (const { rendition, announced } of this.#branches.values()) {
      // Sound comes in longer parts than pictures, and a player that reads the list without it never looks for it again.
      const awaited = announced?.kind === "audio" ? announced : null;
      const track = newestTrack(rendition) ?? awaited;
      if (track) listed.push({ rendition, track });
    }
    const state = this.#ladder?.status.state;
    if (state !== "starting" && state !== "running") return listed;
    for (const { rung, rendition } of this.#ladder?.branches ?? []) {
      if (rung.isForTargets) continue;
      const { codecString, width, height, bitrateBps, frameRate } = rung;
      const shape = { id: VIDEO_TRACK, kind: "video", codec: "avc", config: new Uint8Array() } as const;
      const planned = { ...shape, codecString, width, height };
      const fps = frameRate && { plannedFps: frameRate.num / frameRate.den };
      listed.push({ rendition, track: newestTrack(rendition) ?? planned, plannedBps: bitrateBps, ...fps });
    }
    return listed;
  }

  /** Resolves when the rungs are closed, behind the end of the session. */
  async rungsEnded(): Promise<void> {
    await this.#ladder?.ended;
  }

  /** How the ladder is doing; null where none was asked for. */
  get transcoding(): TranscodingReport | null {
    return this.#ladder?.report ?? null;
  }

  /** How far the rungs are behind the source; 0 without any. */
  get transcodingLagMs(): number {
    return this.#ladder?.lagMs ?? 0;
  }

  get transcodingState(): string | null {
    return this.#ladder?.status.state ?? null;
  }

  /** Rungs that are not made because the machine is too slow for them. */
  get pausedRungs(): number {
    return this.#ladder?.pausedRungs ?? 0;
  }

  playlist(name: string): LivePlaylist | undefined {
    const rung = () => this.#ladder?.branches.find(({ rendition }) => rendition.name === name);
    return (this.#branches.get(name) ?? rung())?.playlist;
  }

  #stretch(tracks: readonly Track[]): void {
    for (const branch of this.#branches.values()) {
      branch.packager.useInit(null);
      branch.announced = null;
    }
    for (const track of tracks) {
      if (!isPackaged(track)) continue;
      const branch = this.#branch(track);
      branch.packager.useInit(initOfTrack(track));
      branch.announced = track;
    }
    const video = tracks.find((track) => track.kind === "video") ?? null;
    if (!video) this.#partTarget.decideByAudio();
    else if (this.#ladder === undefined) this.#ladder = this.#openLadder(video);
    this.#feed.stretch(tracks);
  }

  #openLadder(source: VideoTrack): LiveLadder | null {
    if (!this.#ladderRequest) return null;
    const { profiles, isDefault, forTargets, log, admission, children, encoding, recorded, onSegment, onRungs } =
      this.#ladderRequest;
    const rungs = LiveLadder.plan(profiles, isDefault, source, forTargets);
    if (rungs.length === 0) return null;
    this.#partTarget.hasLadder = true;
    const ladder = new LiveLadder({
      clock: this.#clock,
      log,
      memory: this.#memory,
      partTarget: this.#partTarget,
      discontinuitySequence: this.#timeline.position.discontinuitySequence,
      target: this.#target,
      rungs,
      siblings: () => this.renditions,
      source: this.#feed,
      admission,
      children,
      encoding,
      recorded,
      onSegment,
      onRungs,
    });
    this.#feed.attach(ladder, { from: "now" });
    return ladder;
  }

  #sample(sample: Sample): void {
    const branch = this.#branchOfTrack[sample.trackId];
    if (branch?.announced) branch.packager.sample(sample);
    this.#feed.sample(sample);
    sample.data.release();
  }

  #cut(cut: Cut): void {
    this.#ledger.expect(cut.msn, this.#branches.size);
    for (const { packager } of this.#branches.values()) packager.cut(cut);
    this.#feed.cut(cut);
  }

  #pause(ticks: number): void {
    for (const { packager } of this.#branches.values()) packager.pause(ticks);
    this.#feed.pause(ticks);
  }

  #branch(track: Track): Branch {
    const known = this.#branchOfTrack[track.id];
    if (known) return known;
    const name = renditionNameOf(track);
    const { discontinuitySequence } = this.#timeline.position;
    const rendition = new LiveRendition(name, discontinuitySequence, this.#target, this.#clock);
    const onSegment = (of: LiveRendition, segment: LiveSegment) => this.#ledger.closed(of, segment);
    const isAudio = track.kind === "audio";
    const partLimits = isAudio ? this.#partTarget.audio : this.#partTarget;
    const packager = new RenditionPackager(
      rendition,
      isAudio ? "audio" : "source",
      this.#partTarget,
      this.#memory,
      onSegment,
    );
    const playlist = new LivePlaylist(rendition, partLimits, () => this.renditions);
    const branch: Branch = { rendition, packager, playlist, announced: null };
    this.#branches.set(name, branch);
    this.#branchOfTrack[track.id] = branch;
    return branch;
  }
}

/** A sound that is there as AAC as well is packaged as that alone. */
function isPackaged(track: Track): boolean {
  return track.codec !== "opus" || track.sameAs === undefined;
}
