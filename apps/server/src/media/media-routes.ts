import type { IncomingMessage, ServerResponse } from "node:http";
import type { Forwarded } from "../platform/cluster/index.ts";
import { isRead, sendNotFound } from "./delivery/http/media-response.ts";

/** Addresses that the media plane answers by itself, past the app. `/webrtc/` is WHIP and WHEP. */
export const MEDIA_PREFIXES = ["/hls/", "/asset/hls/", "/recordings/", "/webrtc/"] as const;

/** `forwarded`: by another node of this server. */
export type MediaHandler = (req: IncomingMessage, res: ServerResponse, forwarded?: Forwarded | null) => void;

/** The delivery for each address: each prefix has one handler, which may trust that the address begins so. */
export class MediaRoutes {
  readonly #handlers: readonly (readonly [prefix: string, MediaHandler])[];
  #requests = 0;

  constructor(handlers: Record<(typeof MEDIA_PREFIXES)[number], MediaHandler>) {
    this.#handlers = Object.entries(handlers);
  }

  get requests(): number {
    return this.#requests;
  }

  handle(req: IncomingMessage, res: ServerResponse, forwarded: Forwarded | null = null): void {
    this.#requests++;
    const url = req.url ?? "";
    for (const [prefix, handler] of this.#handlers) if (url.startsWith(prefix)) return handler(req, res, forwarded);
    nothingHere(req, res);
  }
}

/** Where nothing can be read yet. */
export const nothingHere: MediaHandler = (req, res) => {
  if (isRead(req, res)) sendNotFound(res);
};
