import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff } from "../../platform/retry.ts";
import type { RestreamTarget, TargetReport } from "../../ports/index.ts";
import { BroadcastLines, type FindRendition } from "./broadcast-lines.ts";
import type { LineMemory } from "./line-pages.ts";
import { type SentToTargets, TargetBroadcast } from "./target-broadcast.ts";
import type { ConnectTarget } from "./target-connection.ts";
import type { TargetEvent, TargetStatus } from "./target-status.ts";

/** Targets are asked this often how much they took. */
const LOOK_MS = 500;
const ASK_AGAIN_MS = { first: 1_000, most: 30_000 };

/** A node's means to forward broadcasts. */
export interface RestreamResources {
  /** The way to the targets of a project, of whose connections there are so many at a time. */
  connectFor(projectId: string): ConnectTarget;
  /** Bytes that may wait for one target now. */
  readonly maxQueued: () => number;
  readonly sent: SentToTargets;
  readonly memory: LineMemory;
}

export interface SessionTargetsSettings extends Omit<RestreamResources, "connectFor"> {
  readonly connect: ConnectTarget;
  readonly clock: Clock;
  readonly log: Log;
  readonly findRendition: FindRendition;
  /** The targets as the stream names them now. Rejects while nobody can tell. */
  readonly ask: () => Promise<readonly RestreamTarget[]>;
  readonly onChange: (target: RestreamTarget, status: TargetStatus, event: TargetEvent) => void;
}

/** Where one session is forwarded to. The targets come and go while it is live; each has its own broadcast. */
export class SessionTargets {
  readonly #settings: SessionTargetsSettings;
  readonly #lines: BroadcastLines;
  readonly #broadcasts = new Map<string, TargetBroadcast>();
  /** Why targets were given up, by key: they stay so until the session ends, named or not. */
  readonly #givenUp = new Map<string, string>();
  readonly #backOff = new BackOff(ASK_AGAIN_MS.first, ASK_AGAIN_MS.most);
  #askAgain: Timer | null = null;
  /** Counts questions: the answer to an older one is none. */
  #asked = 0;
  #isFlowing = false;
  #isOver = false;
  #lookedAt = 0;

  constructor(settings: SessionTargetsSettings) {
    this.#settings = settings;
    this.#lines = new BroadcastLines(settings.findRendition, settings.memory);
  }

  /** How each of them is doing. */
  get reports(): TargetReport[] {
    return [...this.#broadcasts.values()].flatMap(({ report }) => report ?? []);
  }

  /** The states that are told at once when they change. */
  get news(): string {
    let news = "";
    for (const broadcast of this.#broadcasts.values()) news += `${broadcast.news},`;
    return news;
  }

  /** Forward to these from now on. */
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

  /** The stream's targets have changed, or may have. */
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

  /** Whether the source is there. Targets keep their connections while it is away. */
  flow(isFlowing: boolean): void {
    this.#isFlowing = isFlowing;
    for (const broadcast of this.#broadcasts.values()) broadcast.connectIfIdle();
  }

  /** To be called every 50 ms. */
  tick(): void {
    if (this.#broadcasts.size === 0) return;
    const now = this.#settings.clock.monotonic();
    this.#lines.tick(now);
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    for (const broadcast of this.#broadcasts.values()) broadcast.look();
  }

  /** The session is over. */
  end(): void {
    if (this.#isOver) return;
    this.#lines.flush();
    for (const [key, broadcast] of this.#broadcasts) this.#stop(key, broadcast);
    this.#isOver = true;
    this.#asked++;
    this.#askAgain?.cancel();
  }

  #start(key: string, target: RestreamTarget): void {
    const { clock, log, connect, maxQueued, sent, onChange } = this.#settings;
    const broadcast = new TargetBroadcast({
      clock,
      log,
      target,
      connect,
      lines: this.#lines,
      maxQueued,
      sent,
      isFlowing: () => this.#isFlowing,
      onChange: (status, event) => {
        if (status.state === "offline") this.#givenUp.set(key, status.reason);
        onChange(target, status, event);
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

/** A stream may send several of its renditions to one target. */
const keyOf = ({ id, profile }: RestreamTarget): string => `${id} ${profile}`;

const isSame = (a: RestreamTarget, b: RestreamTarget): boolean =>
  a.url === b.url && a.videoOnly === b.videoOnly && a.slate === b.slate;
