import type { Timer } from "../../platform/clock.ts";
import { BackOff } from "../../platform/retry.ts";
import type { RestreamTarget, TargetReport } from "../../ports/index.ts";
import { BroadcastLines, type FindRendition } from "./broadcast-lines.ts";
import type { LineMemory } from "./line-pages.ts";
import { type SentToTargets, TargetBroadcast, type TargetBroadcastSettings } from "./target-broadcast.ts";
import type { ConnectTarget } from "./target-connection.ts";
import type { TargetEvent, TargetStatus } from "./target-status.ts";

/** Interval at which targets' progress is checked. */
const LOOK_MS = 500;
const ASK_AGAIN_MS = { first: 1_000, most: 30_000 };

/** A node's resources for forwarding broadcasts. */
export interface RestreamResources {
  /** Connects to targets on behalf of a project, within its connection limit. */
  connectFor(projectId: string): ConnectTarget;
  /** Current limit of the bytes queued for one target. */
  readonly maxQueued: () => number;
  readonly sent: SentToTargets;
  readonly memory: LineMemory;
}

export interface SessionTargetsSettings
  extends Omit<RestreamResources, "connectFor">,
    Pick<TargetBroadcastSettings, "clock" | "log" | "connect"> {
  readonly findRendition: FindRendition;
  /** Queries the stream's current targets. Rejects while they are unavailable. */
  readonly ask: () => Promise<readonly RestreamTarget[]>;
  readonly onChange: (target: RestreamTarget, status: TargetStatus, event: TargetEvent) => void;
}

/** The multistream targets of one session. They may change while it is live; each has its own broadcast. */
export class SessionTargets {
  readonly #settings: SessionTargetsSettings;
  readonly #lines: BroadcastLines;
  readonly #broadcasts = new Map<string, TargetBroadcast>();
  /** Reasons for which targets were given up, by key. They stay given up until the session ends, even if removed and added again. */
  readonly #givenUp = new Map<string, string>();
  readonly #backOff = new BackOff(ASK_AGAIN_MS.first, ASK_AGAIN_MS.most);
  #askAgain: Timer | null = null;
  /** Counts queries, so that outdated answers are ignored. */
  #asked = 0;
  #isFlowing = false;
  #isOver = false;
  #lookedAt = 0;

  constructor(settings: SessionTargetsSettings) {
    this.#settings = settings;
    this.#lines = new BroadcastLines(settings.findRendition, settings.memory);
  }

  /** Reports of all targets. */
  get reports(): TargetReport[] {
    return [...this.#broadcasts.values()].flatMap(({ report }) => report ?? []);
  }

  /** Changes of this string are reported immediately. */
  get urgentState(): string {
    let urgentState = "";
    for (const broadcast of this.#broadcasts.values()) urgentState += `${broadcast.urgentState},`;
    return urgentState;
  }

  /** Sets the targets to forward to. */
  set(targets: readonly RestreamTarget[]): void {
    if (this.#isOver) return;
    const wanted = new Map(targets.map((target) => [keyOf(target), target]));
    for (const [key, broadcast] of this.#broadcasts) {
      const target = wanted.get(key);
      if (target && isSame(target, broadcast.target)) wanted.delete(key);
      else this.#stop(key, broadcast);
    }
    for (const [key, target] of wanted) this.#start(key, target);
  }

  /** Queries the targets again, because they may have changed. */
  async refresh(): Promise<void> {
    this.#askAgain?.cancel();
    const question = ++this.#asked;
    try {
      const targets = await this.#settings.ask();
      if (question !== this.#asked) return;
      this.#backOff.reset();
      this.set(targets);
    } catch (error) {
      if (question !== this.#asked || this.#isOver) return;
      const { clock, log } = this.#settings;
      log.warn({ err: error }, "could not read the multistream targets of a stream; retrying");
      this.#askAgain = clock.after(this.#backOff.next(), () => void this.refresh());
    }
  }

  /** Whether the source is present. Targets stay connected while it is away. */
  flow(isFlowing: boolean): void {
    this.#isFlowing = isFlowing;
    for (const broadcast of this.#broadcasts.values()) broadcast.connectIfIdle();
  }

  /** Call every 50 ms. */
  tick(): void {
    if (this.#broadcasts.size === 0) return;
    const now = this.#settings.clock.monotonic();
    this.#lines.tick(now);
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    for (const broadcast of this.#broadcasts.values()) broadcast.look();
  }

  /** Ends all broadcasts with the session. */
  end(): void {
    if (this.#isOver) return;
    this.#lines.flush();
    for (const [key, broadcast] of this.#broadcasts) this.#stop(key, broadcast);
    this.#isOver = true;
    this.#asked++;
    this.#askAgain?.cancel();
  }

  #start(key: string, target: RestreamTarget): void {
    const broadcast = new TargetBroadcast({
      ...this.#settings,
      target,
      lines: this.#lines,
      isFlowing: () => this.#isFlowing,
      onChange: (status, event) => {
        if (status.state === "offline") this.#givenUp.set(key, status.reason);
        this.#settings.onChange(target, status, event);
      },
    });
    this.#broadcasts.set(key, broadcast);
    broadcast.start(this.#givenUp.get(key) ?? target.givenUp);
  }

  #stop(key: string, broadcast: TargetBroadcast): void {
    this.#broadcasts.delete(key);
    broadcast.stop();
  }
}

/** A stream may send several renditions to the same target. */
const keyOf = ({ id, profile }: RestreamTarget): string => `${id} ${profile}`;

const isSame = (a: RestreamTarget, b: RestreamTarget): boolean =>
  a.url === b.url && a.videoOnly === b.videoOnly && a.slate === b.slate;
