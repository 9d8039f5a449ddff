import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { RestreamTarget, TargetReport } from "../../ports/index.ts";
import { DroppedSamples } from "../feed/dropped-samples.ts";
import type { BroadcastLines, LineChoice } from "./broadcast-lines.ts";
import type { ConnectTarget, TargetConnection, TargetFailure } from "./target-connection.ts";
import { TargetOutlet } from "./target-outlet.ts";
import { nextTargetStatus, retryMs, type TargetEvent, type TargetInput, type TargetStatus } from "./target-status.ts";

/** A target that has read for this long counts as online. */
const ACCEPTED_MS = 2_000;
/** A target that reads nothing for this long while data is pending has stalled. */
const STALLED_MS = 10_000;
/** After a shorter time online, the retry delay keeps growing. */
const STEADY_MS = 60_000;
/** How long a report mentions skipped media. */
const SLOW_MS = 60_000;

export interface TargetBroadcastSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly target: RestreamTarget;
  readonly connect: ConnectTarget;
  readonly lines: Pick<BroadcastLines, "join">;
  /** Limit of the bytes queued for one target. */
  readonly maxQueued: () => number;
  /** Whether there is media to send. Without it no connection is opened. */
  readonly isFlowing: () => boolean;
  /** Counts the bytes that targets read and the media skipped. */
  readonly sent: SentToTargets;
  readonly onChange: (status: TargetStatus, event: TargetEvent) => void;
}

/** Totals of all targets of a node since its start. */
export interface SentToTargets {
  bytes: number;
  skippedMs: number;
}

/** The current connection and its progress. */
interface Link {
  readonly connection: TargetConnection;
  /** Null until the target accepts the stream. */
  format: LineChoice["format"] | null;
  outlet: TargetOutlet | null;
  leave: (() => void) | null;
  /** When the target first and last read media, on the monotonic clock. */
  firstTakenAt: number | null;
  takenAt: number;
  taken: number;
}

/** One session's broadcast to one target: a sequence of connections until it is stopped or given up. */
export class TargetBroadcast {
  readonly target: RestreamTarget;
  readonly #settings: TargetBroadcastSettings;
  #status: TargetStatus = { state: "idle" };
  #link: Link | null = null;
  #retry: Timer | null = null;
  #failures = 0;
  #onlineAt = 0;
  #slowAt = Number.NEGATIVE_INFINITY;
  #skippedMs = 0;

  constructor(settings: TargetBroadcastSettings) {
    this.#settings = settings;
    this.target = settings.target;
  }

  get report(): TargetReport | null {
    const { id, name, profile } = this.target;
    const { state } = this.#status;
    if (state === "idle") return null;
    const outlet = this.#link?.outlet;
    const metrics = state === "online" && outlet ? this.#metrics(outlet) : null;
    return { target: { id, name, profile }, state, reason: this.#reason, metrics };
  }

  /** Changes of this string are reported immediately. */
  get urgentState(): string {
    return `${this.#status.state} ${this.#reason !== null}`;
  }

  /** `givenUp`: why the session already gave up this target; it is then not retried. */
  start(givenUp: string | null): void {
    if (givenUp !== null) this.#status = { state: "offline", reason: givenUp };
    else {
      this.#change({ type: "wanted" });
      this.connectIfIdle();
    }
  }

  /** Connects if there is media to send and no connection. */
  connectIfIdle(): void {
    const { connect, isFlowing, clock } = this.#settings;
    if (this.#status.state !== "pending" || this.#link || this.#retry || !isFlowing()) return;
    const connection = connect(this.target.url, {
      ready: (format) => {
        if (this.#link?.connection !== connection) return;
        this.#link.format = format;
        this.#join(this.#link);
      },
      failed: (failure) => this.#link?.connection === connection && this.#lose(failure),
    });
    const takenAt = clock.monotonic();
    this.#link = { connection, format: null, outlet: null, leave: null, firstTakenAt: null, takenAt, taken: 0 };
  }

  /** Checks the target's progress. Call about every 500 ms. */
  look(): void {
    const link = this.#link;
    if (!link) return;
    const now = this.#settings.clock.monotonic();
    if (!link.outlet) return this.#join(link);
    const { queuedBytes, takenBytes, skippedMs, refusal } = link.outlet;
    if (refusal !== null) return this.#lose({ reason: refusal, isTemporary: false });
    const { sent } = this.#settings;
    sent.bytes += Math.max(0, takenBytes - link.taken);
    sent.skippedMs += Math.max(0, skippedMs - this.#skippedMs);
    if (takenBytes > link.taken || queuedBytes === 0) link.takenAt = now;
    if (takenBytes > link.taken) link.firstTakenAt ??= now;
    link.taken = Math.max(link.taken, takenBytes);
    if (skippedMs !== this.#skippedMs) this.#slowAt = now;
    this.#skippedMs = skippedMs;
    if (now - link.takenAt >= STALLED_MS) {
      this.#lose({ reason: `The target has not read anything for ${STALLED_MS / 1000} s.`, isTemporary: true });
    } else if (
      this.#status.state === "pending" &&
      link.firstTakenAt !== null &&
      now - link.firstTakenAt >= ACCEPTED_MS
    ) {
      this.#onlineAt = now;
      this.#change({ type: "accepted" });
    }
  }

  /** Ends the broadcast to this target. */
  stop(): void {
    this.#retry?.cancel();
    this.#drop()?.close();
    this.#change({ type: "unwanted" });
  }

  #join(link: Link): void {
    const { format } = link;
    if (!format) return;
    const { log, lines, maxQueued } = this.#settings;
    const { id: targetId, profile, videoOnly, slate } = this.target;
    const dropped = new DroppedSamples(log.child({ targetId }), "multistream target");
    const outlet = new TargetOutlet(link.connection, maxQueued, dropped);
    const joined = lines.join({ profile, videoOnly, slate, format }, outlet);
    if (joined === null) return;
    if (typeof joined === "string") return this.#lose({ reason: joined, isTemporary: true });
    link.outlet = outlet;
    link.leave = () => {
      joined();
      outlet.close();
    };
    this.#skippedMs = 0;
  }

  #lose(failure: TargetFailure): void {
    const { clock } = this.#settings;
    this.#drop()?.destroy();
    const wasSteady = this.#status.state === "online" && clock.monotonic() - this.#onlineAt >= STEADY_MS;
    this.#failures = wasSteady ? 1 : this.#failures + 1;
    this.#change({ type: "lost", ...failure });
    if (this.#status.state !== "pending") return;
    this.#retry = clock.after(retryMs(this.#failures), () => {
      this.#retry = null;
      this.connectIfIdle();
    });
  }

  /** Detaches the connection, which the caller must close. */
  #drop(): TargetConnection | null {
    const link = this.#link;
    this.#link = null;
    link?.leave?.();
    return link?.connection ?? null;
  }

  #change(input: TargetInput): void {
    const { log, onChange, target } = this.#settings;
    const { status, event } = nextTargetStatus(this.#status, input);
    this.#status = status;
    const { state } = status;
    const reason = "reason" in status ? status.reason : null;
    if (event === "error") log.warn({ targetId: target.id, state, reason }, "a multistream target failed");
    else if (event) log.info({ targetId: target.id }, `a multistream target is ${event}`);
    onChange(status, event);
  }

  #metrics(outlet: TargetOutlet): NonNullable<TargetReport["metrics"]> {
    const activeSec = (this.#settings.clock.monotonic() - this.#onlineAt) / 1000;
    return { activeSec, bytes: outlet.takenBytes, mediaTimeMs: outlet.mediaTimeMs };
  }

  get #reason(): string | null {
    if (this.#status.state === "online") return this.#slowness;
    return this.#status.state === "idle" ? null : this.#status.reason;
  }

  get #slowness(): string | null {
    if (this.#settings.clock.monotonic() - this.#slowAt >= SLOW_MS) return null;
    const seconds = (this.#skippedMs / 1000).toFixed(1);
    return `The target reads too slowly: ${seconds} s of the stream were skipped.`;
  }
}
