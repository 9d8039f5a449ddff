import type { Timer } from "../../../platform/clock.ts";
import type { PullSource } from "../../../ports/index.ts";
import type { Publication, PublicationEnd } from "../../packet.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import { PublishConnection, type PublishWire } from "../publish-connection.ts";
import type { Refusal } from "../publish-refusals.ts";
import type { PublishSettings } from "../publish-settings.ts";
import type { PacedMemory } from "./paced-memory.ts";
import { PacedPackets } from "./paced-packets.ts";
import { RepairedClock } from "./repaired-clock.ts";
import { SourceProblem, UnclearEnd } from "./source-problem.ts";
import type { SourceKind, SourceReader } from "./source-reader.ts";

/** From the first bytes to the first track. */
const TRACK_WITHIN_MS = 10_000;
/** A source may say something else of its tracks with each packet, and each change goes to the log and the database. */
const LEFT_OUT_AGAIN_MS = 5_000;

export interface PullPublisherSettings {
  readonly publishing: PublishSettings;
  /** Processes that convert audio that is not AAC. */
  readonly children: TranscodeChildren;
  /** Shared by all pulls. */
  readonly memory: PacedMemory;
  /** It publishes from now on. */
  readonly onPublishing: () => void;
  /** Tracks of the source that are not taken, as a sentence; null once there are none. */
  readonly onLeftOut: (sentence: string | null) => void;
}

/** `ended`: the source has no more. `lost`: it failed, or the hub closed it, for a reason that is told. `mediaMs`: for so long it brought media. */
export type PullEnd =
  | { readonly how: "ended" }
  | { readonly how: "lost"; readonly reason: string; readonly mediaMs: number };

/** One connection to a source, as a publish connection: the server's own key, and the media that the source sends. */
export class PullPublisher<Piece> implements PublishWire {
  readonly protocol = "pull";
  readonly #settings: PullPublisherSettings;
  readonly #connection: PublishConnection;
  readonly #clock = new RepairedClock();
  readonly #paced: PacedPackets;
  readonly #packets: SourceReader<Piece>;
  readonly #over = new AbortController();
  #reason = "The connection was closed.";
  /** On the monotonic clock; null before it publishes. */
  #publishingSince: number | null = null;
  #leftOut: string | null = null;
  /** When that was told, on the monotonic clock. */
  #leftOutAt = Number.NEGATIVE_INFINITY;
  #judging: Timer | null = null;

  constructor(
    source: Pick<PullSource, "url">,
    kind: Pick<SourceKind<Piece>, "reader">,
    settings: PullPublisherSettings,
  ) {
    const { publishing, children } = settings;
    const { clock, log, hub } = publishing;
    this.#settings = settings;
    // Without a client: its limits are for those who come by themselves.
    this.#connection = new PublishConnection(
      this,
      { remoteAddress: new URL(source.url).hostname, client: null },
      publishing,
    );
    this.#paced = new PacedPackets(this.#connection, clock, settings.memory);
    const repaired: Pick<Publication, "track" | "packet"> = {
      track: (track) => this.#paced.track(track),
      packet: (packet) => this.#paced.packet(this.#clock.repaired(packet)),
    };
    this.#packets = kind.reader(repaired, { clock, log, children, memory: hub.memory.packets });
  }

  /** Aborted when nothing more is wanted. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get clockRepairs(): number {
    return this.#clock.repairs;
  }

  get leftOut(): string | null {
    return this.#packets.leftOut;
  }

  /** Publishes all of it. Resolves when that is over. */
  async run(media: AsyncIterable<Piece>, streamKey: string): Promise<PullEnd> {
    let isWhole = false;
    let mediaMs = 0;
    try {
      for await (const piece of media) {
        if (!this.#connection.isPublishing) await this.#begin(streamKey);
        if (this.signal.aborted) break;
        this.#packets.push(piece);
        this.#tellLeftOut();
        await this.#paced.room();
      }
      isWhole = await this.#drain();
    } catch (error) {
      // Nothing but a file is ahead of real time.
      if (error instanceof UnclearEnd && this.#paced.isAhead) isWhole = await this.#drain().catch(() => false);
      else this.#fail(error);
    } finally {
      mediaMs = this.#mediaMs;
      this.#stop();
      this.#packets.close();
      this.#connection.gone();
    }
    return isWhole ? { how: "ended" } : { how: "lost", reason: this.#reason, mediaMs };
  }

  /** Ends it, because the stream is no longer pulled here. */
  end(reason: string, why: PublicationEnd): void {
    this.#reason = reason;
    this.#connection.end(why, reason);
  }

  pause(): void {
    this.#paced.hold();
  }

  resume(): void {
    this.#paced.goOn();
  }

  paceChanged(): void {}

  accept(): void {
    const { clock } = this.#settings.publishing;
    this.#paced.goOn();
    this.#publishingSince = clock.monotonic();
    this.#judging = clock.after(TRACK_WITHIN_MS, () => this.#judge());
    this.#settings.onPublishing();
  }

  refuse({ sentence }: Refusal): void {
    this.#reason = sentence;
  }

  close(): void {
    this.#stop();
  }

  destroy(): void {
    this.#stop();
  }

  get #mediaMs(): number {
    if (this.#publishingSince === null || this.#packets.missing !== null) return 0;
    return this.#settings.publishing.clock.monotonic() - this.#publishingSince;
  }

  #tellLeftOut(): void {
    const { leftOut } = this.#packets;
    if (leftOut === this.#leftOut || !this.#connection.isPublishing) return;
    const now = this.#settings.publishing.clock.monotonic();
    if (now - this.#leftOutAt < LEFT_OUT_AGAIN_MS) return;
    this.#leftOut = leftOut;
    this.#leftOutAt = now;
    this.#settings.onLeftOut(leftOut);
  }

  /** The source has no more: passes on the rest. Returns whether all of it was. */
  async #drain(): Promise<boolean> {
    if (this.signal.aborted) return false;
    this.#packets.end();
    await this.#paced.drained();
    const isWhole = !this.signal.aborted;
    this.#connection.stop();
    return isWhole;
  }

  async #begin(streamKey: string): Promise<void> {
    await this.#connection.publish(streamKey);
  }

  #judge(): void {
    const sentence = this.#connection.isPublishing ? this.#packets.missing : null;
    if (sentence !== null) this.#connection.refuse({ cause: "unreadable", sentence });
  }

  #fail(error: unknown): void {
    if (this.signal.aborted) return;
    if (!(error instanceof SourceProblem)) return this.#connection.fail(error);
    this.#reason = error.message;
    this.#connection.end("source-lost", error.message);
  }

  #stop(): void {
    if (this.signal.aborted) return;
    this.#judging?.cancel();
    this.#over.abort(new Error("the pull is over"));
    this.#paced.close();
  }
}
