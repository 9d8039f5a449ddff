import type { ServerResponse } from "node:http";
import type { StreamEvent } from "@weir/contract";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { EventTail, FeedItem, TailReader } from "./event-tail.ts";
import type { FeedPosition } from "./feed-position.ts";

export interface FeedStreamSettings {
  readonly clock: Clock;
  readonly tail: EventTail;
  readonly position: FeedPosition;
  readonly response: ServerResponse;
  readonly render: (event: StreamEvent) => Buffer;
  /** The server closed a connection that read too slowly; its client resumes. */
  readonly onTooSlow: () => void;
  /** Access is checked once a minute; a reader that lost it is closed. */
  readonly mayStay: () => Promise<boolean>;
}

/** Events on a page of the log; about 50 kB. */
const PAGE = 100;
/** The most that may wait for one live reader; beyond it, the reader is closed. */
const MAX_WAITING_BYTES = 256 * 1024;

const MAY_STAY_MS = 60_000;

const RETRY = Buffer.from("retry: 10000\n\n");
const PING = Buffer.from(": ping\n\n");
const GAP = Buffer.from(": gap\n\n");

/**
 * One feed reader over server-sent events. While *catching up* it reads the log page by page, each after the client took the previous one. At
 * the tail it *follows*. It *ends* when everything until `to` is sent, the connection is gone, the feed closes, or too much is waiting. No event
 * is ever skipped: a closed reader resumes after the last id it received.
 */
export class FeedStream implements TailReader {
  readonly #settings: FeedStreamSettings;
  #end: Timer | null = null;

  constructor(settings: FeedStreamSettings) {
    this.#settings = settings;
  }

  /** Resolves when the connection is closed. Rejects, after closing it, if the log cannot be read. */
  async run(): Promise<void> {
    const { clock, response, tail, mayStay } = this.#settings;
    if (response.destroyed) return;
    const check = clock.every(MAY_STAY_MS, () => void mayStay().then((may) => may || this.close()));
    const closed = new Promise<void>((resolve) => response.once("close", resolve));
    try {
      response.write(RETRY);
      await this.#catchUp();
      await closed;
    } catch (error) {
      response.destroy();
      throw error;
    } finally {
      check.cancel();
      this.#end?.cancel();
      tail.readers.delete(this);
    }
  }

  take(items: readonly FeedItem[], lines: Buffer): void {
    const chosen = this.#settings.position.chosen(items);
    if (chosen === items) this.#write(lines);
    else if (chosen.length > 0) this.#write(Buffer.concat(chosen.map((item) => item.lines)));
  }

  ping(): void {
    this.#write(PING);
  }

  /** Close early. A response with a known end is cut off, since a client takes a proper end for a complete response. */
  close(): void {
    const { tail, position, response } = this.#settings;
    if (position.endsAt === null) return this.#finish();
    tail.readers.delete(this);
    response.destroy();
  }

  #finish(): void {
    this.#settings.tail.readers.delete(this);
    this.#settings.response.end();
  }

  async #catchUp(): Promise<void> {
    const { clock, tail, position, response, render } = this.#settings;
    while (!position.hasCaughtUp) {
      const { events, isGap } = await position.next(PAGE);
      // Closed in the meantime, by the server or by the client.
      if (response.writableEnded || response.destroyed) return;
      const lines = events.map(({ event }) => render(event));
      if (!response.write(Buffer.concat(isGap ? [GAP, ...lines] : lines))) await this.#taken();
      if (response.writableEnded || response.destroyed) return;
    }
    if (position.endsAt === null) return void tail.readers.add(this);
    const ms = position.endsAt - clock.now();
    if (ms <= 0) return this.#finish();
    tail.readers.add(this);
    this.#end = clock.after(ms, () => this.#finish());
  }

  /** Settles when the written bytes are sent or the connection is gone. The server closes a client that reads nothing at all. */
  #taken(): Promise<void> {
    const { response } = this.#settings;
    return new Promise((resolve) => {
      const done = () => {
        response.off("drain", done);
        response.off("close", done);
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    });
  }

  #write(bytes: Buffer): void {
    const { response, tail, onTooSlow } = this.#settings;
    response.write(bytes);
    if (response.writableLength <= MAX_WAITING_BYTES) return;
    tail.readers.delete(this);
    response.destroy();
    onTooSlow();
  }
}
