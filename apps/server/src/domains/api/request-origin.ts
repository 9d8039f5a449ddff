import type { FastifyRequest } from "fastify";

const origins = new WeakMap<FastifyRequest, string>();

/** The base URL of this server for the response to this request, without a trailing slash. */
export function originOf(request: FastifyRequest): string {
  const origin = origins.get(request);
  if (origin === undefined) throw new Error("a request passed no guard, so nobody knows where it was sent to");
  return origin;
}

/** Called by the guard once it knows the origin. */
export function markOrigin(request: FastifyRequest, origin: string): void {
  origins.set(request, origin);
}
