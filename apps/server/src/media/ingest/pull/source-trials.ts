import { FormatError } from "@weir/formats/bits";
import type { Clock, Timer } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import type { PullSource, SourceTrack, SourceTrial } from "../../../ports/index.ts";
import type { Track } from "../../packet.ts";
import { UnsupportedCodec } from "../publish-refusals.ts";
import type { TsToPacketsSettings } from "../ts/ts-to-packets.ts";
import { PacedMemory } from "./paced-memory.ts";
import { withKindOf } from "./source-kinds.ts";
import type { SourceOpening } from "./source-opening.ts";
import { LOST, SourceProblem, UNREACHABLE } from "./source-problem.ts";
import type { SourceKind, SourceReader } from "./source-reader.ts";

const WITHIN_MS = 10_000;
/** From the first track to one of the other kind: longer than most keyframe intervals. */
const SECOND_TRACK_MS = 3_000;
/** From the second one to those that are left out. */
const FURTHER_TRACKS_MS = 1_000;
/** Of a source that sends faster than real time. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Of one node. A source that needs its sound converted costs a process. */
const MAX_RUNNING = 4;

const BUSY = "The server is trying other sources. Try again in a moment.";
const SILENT = "Nothing that can be played came from the source within 10 s.";
const UNREADABLE = "What the source sends cannot be read as video or audio.";
const FAILED = "The source could not be tried, because of an error in the server.";

export interface SourceTrialsSettings extends Pick<TsToPacketsSettings, "children" | "memory"> {
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: SourceOpening["outbound"];
  readonly srt: SourceOpening["srt"];
}

type TriedSource = Pick<PullSource, "url" | "headers">;

/** Connects to sources as pulls do, to say what they have. Publishes nothing. */
export class SourceTrials {
  readonly #settings: SourceTrialsSettings;
  readonly #running = new Set<Trial>();
  /** Of its own: a node full of pulls can still try a source. */
  readonly #ahead = new PacedMemory();

  constructor(settings: SourceTrialsSettings) {
    this.#settings = settings;
  }

  /** Answers within 10 s. Never rejects. */
  async try(source: TriedSource): Promise<SourceTrial> {
    if (this.#running.size >= MAX_RUNNING) return { tracks: [], leftOut: null, problem: BUSY };
    const trial = new Trial(this.#settings, this.#ahead);
    this.#running.add(trial);
    // A name may be looked up for longer than anybody waits; it has its place until then.
    void trial.read(source).finally(() => this.#running.delete(trial));
    return trial.answer;
  }

  close(): void {
    for (const trial of this.#running) trial.stop();
  }
}

class Trial {
  readonly #settings: SourceTrialsSettings;
  readonly #over = new AbortController();
  readonly #tracks = new Map<Track["kind"], SourceTrack>();
  readonly #answered = Promise.withResolvers<SourceTrial>();
  readonly #deadline: Timer;
  readonly #ahead: PacedMemory;
  #waiting: Timer | null = null;
  /** Something came from it that can be read. */
  #isHeard = false;
  #missing: string | null = null;
  #packets: Pick<SourceReader<unknown>, "leftOut"> | null = null;

  constructor(settings: SourceTrialsSettings, ahead: PacedMemory) {
    this.#settings = settings;
    this.#ahead = ahead;
    this.#deadline = settings.clock.after(WITHIN_MS, () => this.stop());
  }

  get answer(): Promise<SourceTrial> {
    return this.#answered.promise;
  }

  /** Answers with what is known, and lets the source go. */
  stop(): void {
    this.#end(this.#tracks.size > 0 ? null : !this.#isHeard ? UNREACHABLE : (this.#missing ?? SILENT));
  }

  /** Resolves when nothing of the source is open any more. Never rejects. */
  read(source: TriedSource): Promise<void> {
    return withKindOf(source.url, (kind) => this.#read(source, kind));
  }

  async #read<Piece>(source: TriedSource, kind: SourceKind<Piece>): Promise<void> {
    const { clock, log, children, memory, outbound, srt } = this.#settings;
    const { signal } = this.#over;
    const sink = { track: (track: Track) => this.#found(track), packet: release };
    const packets = kind.reader(sink, { clock, log, children, memory });
    this.#packets = packets;
    let bytes = 0;
    try {
      for await (const piece of kind.open(source, { outbound, srt, clock, memory, ahead: this.#ahead, signal })) {
        if (signal.aborted) break;
        this.#isHeard = true;
        bytes += ArrayBuffer.isView(piece) ? piece.byteLength : 0;
        packets.push(piece);
        this.#missing = packets.missing;
        if (bytes > MAX_BYTES) break;
      }
      if (!signal.aborted) packets.end();
      this.#missing = packets.missing;
      this.stop();
    } catch (error) {
      // It has all that a pull needs; how it goes on is not for a trial to judge.
      this.#end(this.#tracks.size > 1 ? null : this.#sentenceOf(error));
    } finally {
      packets.close();
    }
  }

  #found({ codecString: codec, ...track }: Track): void {
    const { kind } = track;
    const isNew = !this.#tracks.has(kind);
    if (kind === "video") {
      const { width, height, frameRate } = track;
      this.#tracks.set(kind, { kind, codec, width, height, ...(frameRate !== undefined && { frameRate }) });
    } else {
      const { sampleRate, channels } = track;
      this.#tracks.set(kind, { kind, codec, sampleRate, channels });
    }
    if (!isNew || this.#over.signal.aborted) return;
    this.#waiting?.cancel();
    const ms = this.#tracks.size > 1 ? FURTHER_TRACKS_MS : SECOND_TRACK_MS;
    this.#waiting = this.#settings.clock.after(ms, () => this.stop());
  }

  #end(problem: string | null): void {
    if (this.#over.signal.aborted) return;
    this.#answered.resolve({ tracks: [...this.#tracks.values()], leftOut: this.#packets?.leftOut ?? null, problem });
    this.#deadline.cancel();
    this.#waiting?.cancel();
    this.#over.abort(new Error("the trial is over"));
  }

  #sentenceOf(error: unknown): string {
    if (error instanceof UnsupportedCodec) return error.message;
    if (error instanceof FormatError) return UNREADABLE;
    if (error instanceof SourceProblem) {
      if (!this.#isHeard && saysNothingCame(error)) return UNREACHABLE;
      return (saysNothingCame(error) && this.#missing) || error.message;
    }
    if (!this.#over.signal.aborted) this.#settings.log.error({ err: error }, "a source could not be tried");
    return FAILED;
  }
}

const release = ({ data }: { readonly data: { release(): void } }): void => data.release();

/** Refused, silent and closed are one: which ports of a private host are open is not for the customer to learn. */
const saysNothingCame = ({ message }: SourceProblem): boolean =>
  message === LOST || /cannot be reached|closed the connection/.test(message);
