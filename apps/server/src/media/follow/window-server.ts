import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../platform/clock.ts";
import { onceClosed } from "../../platform/http/once-closed.ts";
import { Places } from "../../platform/limits/places.ts";
import type { TimelinePosition } from "../../ports/index.ts";
import { parsePlaces, parseWindowAddress } from "./window-address.ts";
import { windowFrame } from "./window-messages.ts";
import { type FollowableSession, type FollowedPlace, WindowSender } from "./window-sender.ts";

/** Nodes that follow one session, and sessions followed in all. */
const PLACES = { inAll: 2_000, perHolder: 32 } as const;
const BEAT_MS = 500;

export interface HandedOver {
  readonly position: TimelinePosition;
  /** What the next owner has already, as by `writePlaces`. */
  readonly from: string;
}

export interface WindowServerSettings {
  readonly clock: Clock;
  readonly sessions: { sessionOf(playbackId: string): FollowableSession | undefined };
}

/** Tells other nodes the live windows that this one has. */
export class WindowServer {
  readonly #settings: WindowServerSettings;
  readonly #places = new Places<string>(PLACES);
  readonly #senders = new Set<WindowSender>();
  /** One for all: each of its own would wake the process. */
  #beats: Timer | null = null;

  constructor(settings: WindowServerSettings) {
    this.#settings = settings;
  }

  /** Of a verified request: `url` begins behind the version. */
  handle(url: string, res: ServerResponse): void {
    const address = parseWindowAddress(url);
    const session = address && this.#settings.sessions.sessionOf(address.playbackId);
    if (!address || !session || session.isLeft) return void res.writeHead(404, { "content-length": "0" }).end();
    if (this.#begin(session, res)) this.#send(session, res, address.from);
  }

  /** To its next owner: where the session goes on, and the rest of the window of this node, which has left it. */
  handOver(session: FollowableSession, { position, from }: HandedOver, res: ServerResponse): void {
    if (!this.#begin(session, res)) return;
    res.write(windowFrame({ kind: "position", position }));
    this.#send(session, res, parsePlaces(from));
  }

  #begin({ sessionId }: FollowableSession, res: ServerResponse): boolean {
    const hasPlace = this.#places.take(sessionId);
    if (!hasPlace) res.writeHead(503, { "content-length": "0" }).end();
    else {
      onceClosed(res, () => this.#places.giveBack(sessionId));
      res.writeHead(200, { "content-type": "application/octet-stream", "cache-control": "no-store" });
    }
    return hasPlace;
  }

  #send(session: FollowableSession, res: ServerResponse, from: ReadonlyMap<string, FollowedPlace>): void {
    const sender = new WindowSender(session, res, from);
    this.#senders.add(sender);
    this.#beats ??= this.#settings.clock.every(BEAT_MS, () => {
      for (const each of this.#senders) each.beat();
    });
    onceClosed(res, () => {
      this.#senders.delete(sender);
      if (this.#senders.size > 0) return;
      this.#beats?.cancel();
      this.#beats = null;
    });
  }
}
