import { BackOff } from "../../../platform/retry.ts";
import type { PullGate, PullLease, PullSource, PullState } from "../../../ports/index.ts";
import type { PublicationEnd } from "../../packet.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import type { PublishSettings } from "../publish-settings.ts";
import type { PacedMemory } from "./paced-memory.ts";
import { type PullEnd, PullPublisher } from "./pull-publisher.ts";
import { withKindOf } from "./source-kinds.ts";
import type { SourceOpening } from "./source-opening.ts";
import type { SourceKind } from "./source-reader.ts";
import { wait } from "./wait.ts";

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/**
 * A source that brought media for so long is asked again soon, however often: a camera that ends its connection every 20 s would otherwise be away for
 * a minute each time.
 */
const STEADY_MS = 5_000;
/** How a pull goes is to be known soon after the database is back. */
const FIRST_TELL_AGAIN_MS = 100;
const MAX_TELL_AGAIN_MS = 5_000;

export interface PullRunSettings {
  readonly publishing: PublishSettings;
  readonly children: TranscodeChildren;
  readonly outbound: SourceOpening["outbound"];
  readonly srt: SourceOpening["srt"];
  readonly gate: PullGate;
  /** What all pulls keep. */
  readonly memory: PacedMemory;
}

interface PullNews {
  readonly state: PullState;
  readonly reason: string | null;
}

/** Pulls one stream for as long as this node has its lease: connects, publishes, and connects again after a growing delay. */
export class PullRun {
  readonly lease: PullLease;
  readonly #settings: PullRunSettings;
  readonly #over = new AbortController();
  readonly #backOff = new BackOff(FIRST_WAIT_MS, MAX_WAIT_MS);
  #publisher: Pick<PullPublisher<unknown>, "end"> | null = null;
  /** How the pull goes. */
  #news: PullNews | null = null;
  /** Until it is recorded. */
  #recording: Promise<void> | null = null;

  constructor(lease: PullLease, settings: PullRunSettings) {
    this.lease = lease;
    this.#settings = settings;
  }

  /** Resolves when it is over, and its end is recorded: until then it would be begun anew. Never rejects. */
  async run(): Promise<void> {
    const { log } = this.#settings.publishing;
    const { streamId } = this.lease;
    try {
      while (await this.#again());
      const given = new Promise<void>((resolve) => this.#over.signal.addEventListener("abort", () => resolve()));
      if (!this.#over.signal.aborted) await Promise.race([this.#recording, given]);
    } catch (error) {
      if (!this.#over.signal.aborted) log.error({ err: error, streamId }, "a pull failed and is not tried again");
    }
  }

  stop(reason: string, why: PublicationEnd = "source-lost"): void {
    this.#over.abort(new Error(reason));
    this.#publisher?.end(reason, why);
  }

  /** One attempt, and the wait after it; false at the end. */
  async #again(): Promise<boolean> {
    const { gate, publishing } = this.#settings;
    const { clock, log } = publishing;
    const { signal } = this.#over;
    const source = await gate.source(this.lease).catch((error: unknown) => {
      log.warn({ err: error, streamId: this.lease.streamId }, "could not read the source of a pull; trying again");
      return "unknown" as const;
    });
    signal.throwIfAborted();
    if (source === null) return false;
    if (source === "busy") this.#tell("waiting", "Another publisher is live on this stream.");
    else if (source !== "unknown") {
      this.#tell("connecting", null);
      const end = await this.#attempt(source);
      signal.throwIfAborted();
      if (end.how === "ended") {
        this.#tell("ended", "The source has ended.");
        return false;
      }
      if (end.mediaMs >= STEADY_MS) this.#backOff.reset();
      this.#tell("retrying", end.reason);
    }
    await wait(clock, this.#backOff.next(), signal);
    return true;
  }

  #attempt(source: PullSource): Promise<PullEnd> {
    return withKindOf(source.url, (kind) => this.#pull(source, kind));
  }

  async #pull<Piece>(source: PullSource, kind: SourceKind<Piece>): Promise<PullEnd> {
    const { publishing, children, outbound, srt, memory } = this.#settings;
    const { clock, hub } = publishing;
    const publisher = new PullPublisher(source, kind, {
      ...{ publishing, children, memory },
      onPublishing: () => this.#tell("pulling", null),
      onLeftOut: (sentence) => this.#tell("pulling", sentence),
    });
    this.#publisher = publisher;
    try {
      const media = kind.open(source, {
        ...{ outbound, srt, clock, memory: hub.memory.packets, ahead: memory, signal: publisher.signal },
      });
      return await publisher.run(media, source.streamKey);
    } finally {
      this.#publisher = null;
    }
  }

  #tell(state: PullState, reason: string | null): void {
    const { log } = this.#settings.publishing;
    const { streamId } = this.lease;
    if (this.#news?.state === state && this.#news.reason === reason) return;
    this.#news = { state, reason };
    log.info({ streamId, state, reason }, "a pull changed its state");
    // One report at a time, so that an earlier one does not overtake a later one.
    this.#recording ??= this.#record();
  }

  /** Records the latest news until the database has it, or the lease is given up. Never rejects. */
  async #record(): Promise<void> {
    const { gate, publishing } = this.#settings;
    const { clock, log } = publishing;
    const { signal } = this.#over;
    const backOff = new BackOff(FIRST_TELL_AGAIN_MS, MAX_TELL_AGAIN_MS);
    let news = this.#news;
    while (news) {
      try {
        await gate.report(this.lease, news.state, news.reason);
        news = this.#news === news ? null : this.#news;
      } catch (error) {
        if (signal.aborted) break;
        log.warn({ err: error, streamId: this.lease.streamId }, "could not record the state of a pull; trying again");
        // Rejects when the lease is given up.
        await wait(clock, backOff.next(), signal).catch(() => {});
        news = signal.aborted ? null : this.#news;
      }
    }
    this.#recording = null;
  }
}
