import type { StreamEvent } from "@weir/contract";
import { expect } from "vitest";
import type { WeirServer } from "./weir-server.ts";

/** A client that follows a stream's event feed from the beginning, across server restarts. */
export class Follower {
  readonly ids: string[] = [];
  /** How long after it happened each event of the stream's lifecycle arrived, in milliseconds. */
  readonly delays: number[] = [];
  /** Number of connections started. */
  connections = 0;
  gaps = 0;
  readonly #abort = new AbortController();
  readonly #reading: Promise<void>;

  constructor(weir: WeirServer, { id, createdAt }: { readonly id: string; readonly createdAt: number }) {
    this.#reading = (async () => {
      const events = weir.client.streams.events(id, {
        from: createdAt - 1,
        signal: this.#abort.signal,
        onGap: () => {
          this.gaps += 1;
        },
        onConnection: (isConnected) => {
          if (isConnected) this.connections += 1;
        },
      });
      for await (const event of events) {
        this.ids.push(event.id);
        if (event.type === "stream_state" || event.type === "webhook_event")
          this.delays.push(Date.now() - event.timestamp);
      }
    })();
    // Rejects when aborted, or earlier.
    this.#reading.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#reading.catch(() => {});
  }
}

/** The complete event log of an idle stream. */
export async function readLog(
  weir: WeirServer,
  { id, createdAt }: { readonly id: string; readonly createdAt: number },
): Promise<StreamEvent[]> {
  const log: StreamEvent[] = [];
  for await (const event of weir.client.streams.events(id, { from: createdAt - 1, to: Date.now() })) log.push(event);
  return log;
}

/** Resolves with the log when each follower has all its ids once and in order. The last events may arrive after the stream is idle. */
export async function expectWholeLog(
  weir: WeirServer,
  stream: { readonly id: string; readonly createdAt: number },
  followers: readonly Follower[],
): Promise<StreamEvent[]> {
  let log: StreamEvent[] = [];
  const areLevel = async () => {
    log = await readLog(weir, stream);
    return followers.every(({ ids }) => ids.length === log.length);
  };
  await expect.poll(areLevel, { timeout: 60_000 }).toBe(true);
  const ids = log.map(({ id }) => id);
  for (const follower of followers) {
    expect(follower.ids).toEqual(ids);
    expect(follower.gaps).toBe(0);
  }
  return log;
}
