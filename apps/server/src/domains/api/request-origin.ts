import type { FastifyRequest } from "fastify";

const origins = new WeakMap<FastifyRequest, string>();

/** The address of this server for the answer to this request, without a slash at the end. */
export function originOf(request: FastifyRequest): string {
  const origin = origins.get(request);
  if (origin === undefined) throw new Error("a request passed no guard, so nobody knows where it was sent to");
  return origin;
}

/** The guard knows now. */
export function markOrigin(request: FastifyRequest, origin: string): void {
  origins.set(request, origin);
}
