import { randomUUID } from "node:crypto";
import type { Subscription } from "../platform/channel-listener.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database.ts";

const CHANNEL = "media_answers";

/** The answer of one node to one command, as it goes through the database. */
interface NodeAnswer {
  readonly to: string;
  readonly nodeId: string;
  readonly answer: unknown;
}

interface Waiting {
  readonly send: (answerTo: string) => Promise<void>;
  readonly take: (answer: NodeAnswer) => void;
}

export function sendAnswer(database: Pick<Database<never>, "notify">, answer: NodeAnswer): Promise<void> {
  return database.notify(CHANNEL, JSON.stringify(answer));
}

/** Collects what media nodes answer to a command. It listens from the first question on. */
export class MediaAnswers {
  readonly #database: Pick<Database<never>, "listen">;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  #listening: Promise<Subscription> | null = null;

  constructor(database: Pick<Database<never>, "listen">, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * The answers of these nodes; after `maxMs`, of those that have answered. The command must be safe to repeat: it is sent again when an answer may
   * have been missed.
   */
  async ask<Answer>(nodeIds: readonly string[], send: Waiting["send"], maxMs: number): Promise<Answer[]> {
    await this.#listen();
    const id = randomUUID();
    const silent = new Set(nodeIds);
    const answers: Answer[] = [];
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const take = ({ nodeId, answer }: NodeAnswer): void => {
      if (silent.delete(nodeId)) answers.push(answer as Answer);
      if (silent.size === 0) resolve();
    };
    const deadline = this.#clock.after(maxMs, resolve);
    this.#waiting.set(id, { send, take });
    try {
      await send(id);
      if (silent.size > 0) await all;
      return answers;
    } finally {
      this.#waiting.delete(id);
      deadline.cancel();
    }
  }

  async #listen(): Promise<void> {
    this.#listening ??= this.#database.listen(CHANNEL, {
      message: (payload) => {
        // Trusted, as commands are: only processes of this installation can send here.
        const answer = JSON.parse(payload) as NodeAnswer;
        this.#waiting.get(answer.to)?.take(answer);
      },
      // A command that cannot be sent again leaves its question to the deadline.
      reconnected: () => this.#waiting.forEach(({ send }, id) => void send(id).catch(() => {})),
    });
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = null;
      throw error;
    }
  }
}
