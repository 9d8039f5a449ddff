import type pg from "pg";
import type { Clock } from "./clock.ts";
import { Turns } from "./limits/turns.ts";
import type { Log } from "./log.ts";
import { BackOff, sleep } from "./retry.ts";

export interface ChannelHandler {
  message(payload: string): void;
  /** The connection was lost and restored: notifications in between are missed. Read the relevant data again. */
  reconnected(): void;
}

/** Time until a silent connection is noticed. */
const PING_EVERY_MS = 10_000;

export interface Subscription {
  close(): Promise<void>;
}

/**
 * LISTENs for all channels of this process on one dedicated connection. Idle until the first channel; then connected, and reconnected with
 * back-off after each loss, until `close`.
 */
export class ChannelListener {
  readonly #connect: () => pg.Client;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #channels = new Map<string, Set<ChannelHandler>>();
  #client: Promise<pg.Client> | null = null;
  /** The same, while it is connected. */
  #connected: pg.Client | null = null;
  /** Of statements: pg warns of those that wait in a client, and will refuse them. A few: each subscription has one at a time. */
  readonly #turns = new Turns({ atATime: 1 });
  #isClosed = false;

  constructor(connect: () => pg.Client, clock: Clock, log: Log) {
    this.#connect = connect;
    this.#clock = clock;
    this.#log = log;
  }

  async listen(channel: string, handler: ChannelHandler): Promise<Subscription> {
    const handlers = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, handlers.add(handler));
    this.#client ??= this.#openFirst();
    try {
      const client = await this.#client;
      await this.#ask(client, `listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      handlers.delete(handler);
      throw error;
    }
    return {
      close: async () => {
        handlers.delete(handler);
        if (handlers.size > 0 || this.#channels.get(channel) !== handlers) return;
        this.#channels.delete(channel);
        // One that is being opened again does not listen to the channel any more, and may take as long as the database is away.
        const current = this.#connected;
        if (this.#isClosed || !current) return;
        await this.#ask(current, `unlisten ${current.escapeIdentifier(channel)}`).catch(() => {});
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connected?.end().catch(() => {});
  }

  /** The next caller of `listen` tries again. */
  async #openFirst(): Promise<pg.Client> {
    try {
      return await this.#open();
    } catch (error) {
      this.#client = null;
      throw error;
    }
  }

  async #open(): Promise<pg.Client> {
    const client = this.#connect();
    client.on("error", (error) => this.#log.debug(`the listening connection failed: ${error.message}`));
    client.on("notification", ({ channel, payload }) => {
      for (const handler of this.#channels.get(channel) ?? []) this.#guard(() => handler.message(payload ?? ""));
    });
    try {
      await client.connect();
      for (const channel of this.#channels.keys())
        await this.#ask(client, `listen ${client.escapeIdentifier(channel)}`);
      if (this.#isClosed) throw new Error("the database is closed");
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    // Not earlier: a connection that failed to open ends as well, and its opener retries.
    const pings = this.#clock.every(PING_EVERY_MS, () => void this.#ask(client, "select 1").catch(() => {}));
    this.#connected = client;
    client.once("end", () => {
      pings.cancel();
      this.#connected = null;
      this.#reopen();
    });
    return client;
  }

  /** If a connection fails here or does not answer, it is ended so that another takes its place. */
  async #ask(client: pg.Client, text: string): Promise<void> {
    try {
      await this.#turns.run(() => client.query(text));
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  #reopen(): void {
    if (this.#isClosed) return;
    this.#log.warn("lost the database LISTEN connection; reconnecting");
    this.#client = this.#openAgain();
    this.#client.catch(() => {});
  }

  async #openAgain(): Promise<pg.Client> {
    const backOff = new BackOff(100, 5_000);
    while (!this.#isClosed) {
      await sleep(this.#clock, backOff.next());
      const client = await this.#open().catch(() => null);
      if (!client) continue;
      for (const handlers of this.#channels.values()) {
        for (const handler of handlers) this.#guard(() => handler.reconnected());
      }
      return client;
    }
    throw new Error("the database is closed");
  }

  /** A handler that throws must not end the shared connection. */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error({ err: error }, "database notification handler failed");
    }
  }
}
