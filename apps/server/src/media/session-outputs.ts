import type { Clock } from "../platform/clock.ts";
import { RenditionFeed } from "./feed/rendition-feed.ts";
import { type Feed, SessionFeed } from "./feed/session-feed.ts";
import { planLadder } from "./ladder/ladder-plan.ts";
import { type LadderRequest, LiveLadder, type WatchableRung } from "./ladder/live-ladder.ts";
import { type ListedRendition, newestTrack } from "./packaging/hls/live-multivariant.ts";
import { LivePlaylist } from "./packaging/hls/live-playlist.ts";
import { initOfTrack } from "./packaging/init-of-track.ts";
import type { LiveOutput } from "./packaging/live-output.ts";
import { LiveRendition } from "./packaging/live-rendition.ts";
import { PartTarget } from "./packaging/part-target.ts";
import { renditionNameOf } from "./packaging/rendition-name.ts";
import { type RenditionPace, RenditionPackager } from "./packaging/rendition-packager.ts";
import { type RenditionSegment, SegmentLedger } from "./packaging/segment-ledger.ts";
import type { SlateImages } from "./packaging/slate-images.ts";
import { SlateOutputs } from "./packaging/slate-outputs.ts";
import { type Track, VIDEO_TRACK, type VideoTrack } from "./packet.ts";
import type { PageMemory } from "./page-memory.ts";
import type { TargetDuration } from "./timeline/target-duration.ts";
import type { Cut, Sample, SlateSink, TimelineSink } from "./timeline/timeline-sink.ts";

export interface SessionOutputsSettings {
  readonly clock: Clock;
  /** Memory of parts. */
  readonly memory: PageMemory;
  /** Decided before the first stretch. */
  readonly target: Pick<TargetDuration, "seconds">;
  /** Discontinuities of the session before the first stretch. */
  readonly discontinuitySequence: number;
  /** What an owner before had of the live window, by rendition: it goes on here. */
  readonly window: ReadonlyMap<string, LiveRendition>;
  /** A segment is closed in every rendition of the source. */
  readonly onSegment: (segments: readonly RenditionSegment[]) => void;
  /** Null where the source is passed through alone. */
  readonly ladder: LadderRequest | null;
  /** The image that viewers see while the source is away; null for the last picture. */
  readonly slateImages: SlateImages | null;
}

/** The name that targets have for the source itself. */
const SOURCE = "source";

/** A rendition of the source's own track. */
interface SourceOutput extends LiveOutput {
  /** Of the present stretch; null where it has none. */
  announced: Track | null;
}

/**
 * What a session offers: the live window of each rendition, and a feed for other readers. It takes what a timeline says, by the verbs of a feed, and does
 * not know where that comes from: from a source of this process, or from another process.
 */
export class SessionOutputs implements TimelineSink {
  readonly #settings: SessionOutputsSettings;
  readonly #sources = new Map<string, SourceOutput>();
  /** The same, by the id of their track. */
  readonly #sourceOfTrack: (SourceOutput | undefined)[] = [];
  readonly #partTarget = new PartTarget();
  readonly #ledger: SegmentLedger;
  readonly #feed = new SessionFeed((sink) => {
    const video = this.#sourceOfTrack[VIDEO_TRACK];
    return video !== undefined && video.announced !== null && video.packager.replay(sink);
  });
  readonly #slate = new SlateOutputs();
  #discontinuities: number;
  /** Of the owner before, what has no output yet. */
  readonly #window: Map<string, LiveRendition>;
  /** Undefined until the first video track tells what it is made from. */
  #ladder: LiveLadder | null | undefined;

  constructor(settings: SessionOutputsSettings) {
    this.#settings = settings;
    this.#discontinuities = settings.discontinuitySequence;
    this.#window = new Map(settings.window);
    this.#ledger = new SegmentLedger(settings.onSegment);
  }

  /** Discontinuities of the session before the first stretch of this process. */
  get breaksBefore(): number {
    return this.#settings.discontinuitySequence;
  }

  /** Where readers of the session's packets attach. */
  get feed(): Feed {
    return this.#feed;
  }

  /** What viewers see while the source is away: H.264 alone, and without the feed, whose readers wait. */
  readonly slate: SlateSink = {
    begin: () => {
      if (this.#sourceOfTrack[VIDEO_TRACK]?.announced === null) return null;
      const { slateImages } = this.#settings;
      const pace = this.#slate.begin([...this.#sources.values()], slateImages);
      if (pace !== null) this.#ladder?.slate.begin(slateImages);
      return pace;
    },
    cut: (cut) => {
      this.#ledger.expect(cut.msn, this.#sources.size);
      this.#slate.cut(cut);
      this.#ladder?.slate.cut(cut);
    },
    picture: (ticks, duration) => {
      this.#slate.picture(ticks, duration);
      this.#ladder?.slate.picture(ticks, duration);
    },
    sound: (sample) => this.#sourceOfTrack[sample.trackId]?.packager.sample(sample),
    end: (ticks) => {
      this.#slate.end(ticks);
      this.#ladder?.slate.end(ticks);
    },
  };

  /** Null where none was asked for, and before the first picture. */
  get ladder(): LiveLadder | null {
    return this.#ladder ?? null;
  }

  /** The pictures of a profile with the source's sound, for a multistream target; a sentence where it is not made, null before that is known. */
  feedOf(profile: string): Feed | string | null {
    if (profile === SOURCE) return this.#feed;
    if (this.#sources.size === 0) return null;
    const pictures = this.#ladder?.feedOf(profile);
    if (pictures) return new RenditionFeed(pictures, this.#feed);
    return `The rendition "${profile}" is not being made, so there is nothing to send.`;
  }

  get watchableRungs(): readonly WatchableRung[] {
    return this.#ladder?.watchable ?? [];
  }

  get renditions(): readonly LiveRendition[] {
    return [...this.#sources.values(), ...(this.#ladder?.outputs ?? [])].map(({ rendition }) => rendition);
  }

  /** The renditions that a viewer may choose from now. */
  get listed(): readonly ListedRendition[] {
    if (!this.renditions.some(newestTrack) || this.#awaitsPictures) return [];
    const listed: ListedRendition[] = [];
    for (const { rendition, announced } of this.#sources.values()) {
      // Sound comes in longer parts than pictures, and a player that reads the list without it never looks for it again.
      const awaited = announced?.kind === "audio" ? announced : null;
      const track = newestTrack(rendition) ?? awaited;
      if (track) listed.push({ rendition, track });
    }
    return [...listed, ...(this.#ladder?.listed ?? [])];
  }

  /** Sound came first. A player that reads the list without the source's pictures never looks for them again, but they may never come. */
  get #awaitsPictures(): boolean {
    const hasSegment = this.renditions.some(({ listed }) => listed.length > 0);
    const isAwaited = ({ rendition, announced }: SourceOutput) =>
      announced?.kind === "video" && !newestTrack(rendition);
    return !hasSegment && [...this.#sources.values()].some(isAwaited);
  }

  playlist(name: string): LivePlaylist | undefined {
    const rung = () => this.#ladder?.outputs.find(({ rendition }) => rendition.name === name);
    return (this.#sources.get(name) ?? rung())?.playlist;
  }

  stretch(tracks: readonly Track[]): void {
    for (const output of this.#sources.values()) {
      output.packager.useInit(null);
      output.announced = null;
    }
    for (const track of tracks) {
      if (!isPackaged(track)) continue;
      const output = this.#sourceOf(track);
      output.packager.useInit(initOfTrack(track));
      output.announced = track;
    }
    const video = tracks.find((track) => track.kind === "video") ?? null;
    if (!video) this.#partTarget.decideByAudio();
    else if (this.#ladder === undefined) this.#ladder = this.#openLadder(video);
    this.#feed.stretch(tracks);
  }

  cut(cut: Cut): void {
    if (cut.discontinuity) this.#discontinuities++;
    this.#settings.slateImages?.prepare(this.renditions);
    this.#ledger.expect(cut.msn, this.#sources.size);
    for (const { packager } of this.#sources.values()) packager.cut(cut);
    this.#feed.cut(cut);
  }

  sample(sample: Sample): void {
    const output = this.#sourceOfTrack[sample.trackId];
    if (output?.announced) output.packager.sample(sample);
    this.#feed.sample(sample);
  }

  pause(ticks: number): void {
    for (const { packager } of this.#sources.values()) packager.pause(ticks);
    this.#feed.pause(ticks);
  }

  /** The session goes on at another node: playlists stay as they are, and viewers by WebRTC have to ask there. */
  moved(): void {
    this.#disposeWindow();
    this.#feed.moved();
  }

  /** The session is over: playlists end. */
  end(): void {
    for (const { rendition } of this.#sources.values()) rendition.end();
    this.#feed.end();
  }

  /** Nobody asks any more: the memory of all renditions is released. */
  dispose(): void {
    for (const rendition of this.renditions) rendition.dispose();
    this.#disposeWindow();
  }

  /** No output of this node will write it. */
  #disposeWindow(): void {
    for (const rendition of this.#window.values()) rendition.dispose();
    this.#window.clear();
  }

  #openLadder(source: VideoTrack): LiveLadder | null {
    const { clock, ladder: request } = this.#settings;
    const rungs = request ? planLadder(request.profiles, request.isDefault, source, request.forTargets) : [];
    if (!request || rungs.length === 0) return null;
    this.#partTarget.hasLadder = true;
    const open = (name: string, ledger: SegmentLedger) => this.#open(name, "rung", ledger);
    const ladder = new LiveLadder({ clock, request, rungs, source: this.#feed, open });
    this.#feed.attach(ladder, { from: "now" });
    return ladder;
  }

  #sourceOf(track: Track): SourceOutput {
    const known = this.#sourceOfTrack[track.id];
    if (known) return known;
    const name = renditionNameOf(track);
    const opened = this.#open(name, track.kind === "audio" ? "audio" : "source", this.#ledger);
    const output: SourceOutput = { ...opened, announced: null };
    this.#sources.set(name, output);
    this.#sourceOfTrack[track.id] = output;
    return output;
  }

  #open(name: string, pace: RenditionPace, ledger: SegmentLedger): LiveOutput {
    const { memory } = this.#settings;
    const rendition = this.#renditionOf(name);
    const packager = new RenditionPackager(rendition, pace, this.#partTarget, memory, (of, segment) =>
      ledger.closed(of, segment),
    );
    const partLimits = pace === "audio" ? this.#partTarget.audio : this.#partTarget;
    return { rendition, packager, playlist: new LivePlaylist(rendition, partLimits, () => this.renditions) };
  }

  #renditionOf(name: string): LiveRendition {
    const { clock, target } = this.#settings;
    const earlier = this.#window.get(name);
    if (!earlier) return new LiveRendition(name, this.#discontinuities, target, clock);
    this.#window.delete(name);
    // What its owner did not complete is nobody's.
    earlier.dropOpen();
    return earlier;
  }
}

/** A sound that is there as AAC as well is packaged as that alone. */
function isPackaged(track: Track): boolean {
  return track.codec !== "opus" || track.sameAs === undefined;
}
