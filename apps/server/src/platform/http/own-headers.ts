import type { FastifyReply } from "fastify";
import { REQUEST_ID_HEADER } from "./request-id.ts";

/** Headers of every response. A handler that responds past the framework adds them itself. */
export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

type SecurityHeader = keyof typeof SECURITY_HEADERS;

const withheld = new WeakMap<FastifyReply, readonly SecurityHeader[]>();

/** For a page that other sites may frame: it says so itself, and these would contradict it. */
export function withholdHeaders(reply: FastifyReply, names: readonly SecurityHeader[]): void {
  withheld.set(reply, names);
}

/** The last step before a response is sent. */
export function addOwnHeaders(reply: FastifyReply, requestId: string): void {
  const without: readonly string[] = withheld.get(reply) ?? [];
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (!reply.hasHeader(name) && !without.includes(name)) reply.header(name, value);
  reply.header(REQUEST_ID_HEADER, requestId);
}
