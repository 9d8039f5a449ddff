import type { Clock } from "./clock.ts";
import { sleep } from "./retry.ts";
import { SharedWork } from "./shared-work.ts";

const ANSWER_WITHIN_MS = 2_000;

/** Null if all is well, or else a few words without secrets about the problem: anyone may read them. */
export type ReadinessCheck = () => Promise<string | null> | string | null;

/** What a balancer sends to a process. */
export const PURPOSES = ["publish", "watch", "api"] as const;
export type Purpose = (typeof PURPOSES)[number];

export interface ReadinessReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

interface CheckedPart {
  readonly name: string;
  readonly of: readonly Purpose[];
  readonly problem: string | null;
  readonly isNote: boolean;
}

/** Whether this process should receive work: every check passes, and it is not draining. */
export class Readiness {
  readonly #clock: Clock;
  readonly #checks = new Map<string, { readonly check: ReadinessCheck; readonly of: readonly Purpose[] }>();
  readonly #notes = new Map<string, () => string | null>();
  #isDraining = false;
  readonly #running = new SharedWork<readonly CheckedPart[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The process does without it for other purposes than `of`. */
  add(name: string, check: ReadinessCheck, of: readonly Purpose[] = PURPOSES): void {
    this.#checks.set(name, { check, of });
  }

  /** As a check, of a part that others do without: its problem is reported, and the process is ready. */
  addNote(name: string, note: () => string | null): void {
    this.#notes.set(name, note);
  }

  /** Not ready from now on. */
  drain(): void {
    this.#isDraining = true;
  }

  /** For one purpose, or for all. Concurrent callers share one run of the checks. */
  async report(purpose?: Purpose): Promise<ReadinessReport> {
    if (this.#isDraining) return { isReady: false, checks: { node: "draining" } };
    const checked = await this.#running.run(() => this.#run());
    const parts = checked.filter(({ of }) => purpose === undefined || of.includes(purpose));
    return {
      isReady: parts.every(({ problem, isNote }) => isNote || problem === null),
      checks: Object.fromEntries(parts.map(({ name, problem }) => [name, problem ?? "ok"])),
    };
  }

  async #run(): Promise<readonly CheckedPart[]> {
    const checks = [...this.#checks].map(async ([name, { check, of }]) => {
      return { name, of, problem: await this.#ask(check), isNote: false };
    });
    const notes = [...this.#notes].map(([name, note]) => ({ name, of: PURPOSES, problem: note(), isNote: true }));
    return [...(await Promise.all(checks)), ...notes];
  }

  async #ask(check: ReadinessCheck): Promise<string | null> {
    const late = sleep(this.#clock, ANSWER_WITHIN_MS).then(() => `no answer within ${ANSWER_WITHIN_MS} ms`);
    const answer = Promise.resolve().then(check);
    return Promise.race([answer.catch(() => "failed"), late]);
  }
}
