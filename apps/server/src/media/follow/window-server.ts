import type { ServerResponse } from "node:http";
import type { Clock } from "../../platform/clock.ts";
import { Places } from "../../platform/limits/places.ts";
import { parseWindowAddress } from "./window-address.ts";
import { type FollowableSession, WindowSender } from "./window-sender.ts";

/** Nodes that follow one session, and sessions followed in all. */
const PLACES = { inAll: 2_000, perHolder: 32 } as const;

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
    const { sessionId } = session;
    if (!this.#places.take(sessionId)) return void res.writeHead(503, { "content-length": "0" }).end();
    res.once("close", () => this.#places.giveBack(sessionId));
    res.writeHead(200, { "content-type": "application/octet-stream", "cache-control": "no-store" });
    new WindowSender(session, res, address.from, clock);
  }
}
