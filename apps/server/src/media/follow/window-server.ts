import type { ServerResponse } from "node:http";
import type { Clock } from "../../platform/clock.ts";
import { onceClosed } from "../../platform/http/once-closed.ts";
import { Places } from "../../platform/limits/places.ts";
import type { TimelinePosition } from "../../ports/index.ts";
import { parsePlaces, parseWindowAddress } from "./window-address.ts";
import { windowFrame } from "./window-messages.ts";
import { type FollowableSession, WindowSender } from "./window-sender.ts";

/** Nodes that follow one session, and sessions followed in all. */
const PLACES = { inAll: 2_000, perHolder: 32 } as const;

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

  constructor(settings: WindowServerSettings) {
    this.#settings = settings;
  }

  /** Of a verified request: `url` begins behind the version. */
  handle(url: string, res: ServerResponse): void {
    const { clock, sessions } = this.#settings;
    const address = parseWindowAddress(url);
    const session = address && sessions.sessionOf(address.playbackId);
    if (!address || !session || session.isLeft) return void res.writeHead(404, { "content-length": "0" }).end();
    if (this.#begin(session, res)) new WindowSender(session, res, address.from, clock);
  }

  /** To its next owner: where the session goes on, and the rest of the window of this node, which has left it. */
  handOver(session: FollowableSession, { position, from }: HandedOver, res: ServerResponse): void {
    if (!this.#begin(session, res)) return;
    res.write(windowFrame({ kind: "position", position }));
    new WindowSender(session, res, parsePlaces(from), this.#settings.clock);
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
}
