import type { Clock } from "./clock.ts";
import { sleep } from "./retry.ts";
import { SharedWork } from "./shared-work.ts";

const ANSWER_WITHIN_MS = 2_000;

/** Null if all is well, or else a few words without secrets about the problem: anyone may read them. */
export type ReadinessCheck = () => Promise<string | null> | string | null;

export interface ReadinessReport {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** Whether this process should receive work: every check passes, and it is not draining. */
export class Readiness {
  readonly #clock: Clock;
  readonly #checks = new Map<string, ReadinessCheck>();
  readonly #notes = new Map<string, () => string | null>();
  #isDraining = false;
  readonly #running = new SharedWork<ReadinessReport>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
  }

  /** As a check, of a part that others do without: its problem is reported, and the process is ready. */
  addNote(name: string, note: () => string | null): void {
    this.#notes.set(name, note);
  }

  /** Not ready from now on. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Concurrent callers share one run of the checks. */
  async report(): Promise<ReadinessReport> {
    if (this.#isDraining) return { isReady: false, checks: { node: "draining" } };
    return this.#running.run(() => this.#run());
  }

  async #run(): Promise<ReadinessReport> {
    const results = await Promise.all(
      [...this.#checks].map(async ([name, check]) => [name, await this.#ask(check)] as const),
    );
    return {
      isReady: results.every(([, problem]) => problem === null),
      checks: Object.fromEntries(
        [...results, ...[...this.#notes].map(([name, note]) => [name, note()] as const)].map(([name, problem]) => [
          name,
          problem ?? "ok",
        ]),
      ),
    };
  }

  async #ask(check: ReadinessCheck): Promise<string | null> {
    const late = sleep(this.#clock, ANSWER_WITHIN_MS).then(() => `no answer within ${ANSWER_WITHIN_MS} ms`);
    const answer = Promise.resolve().then(check);
    return Promise.race([answer.catch(() => "failed"), late]);
  }
}
