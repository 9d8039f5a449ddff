import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

export interface CorsSettings {
  /** URLs below these prefixes answer any page. */
  readonly openPrefixes: readonly string[];
  /** Pages of this origin may read everything else. */
  readonly ownOrigin: () => string;
}

const PREFLIGHT_SECONDS = "7200";
/** The response headers that pages may read. */
const EXPOSED = "Link, X-Total-Count, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed, X-Request-Id";

/**
 * Cross-origin rules: any page gets an answer to its preflight request. Only the server's own pages and, for open URLs, all pages can read the
 * response itself.
 */
export function addCors(app: FastifyInstance, { openPrefixes, ownOrigin }: CorsSettings): void {
  app.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    reply.header("vary", "Authorization, Origin");
    if (!origin) return;
    const isPreflight = request.method === "OPTIONS" && "access-control-request-method" in request.headers;
    const isOpen = openPrefixes.some((prefix) => request.url.startsWith(prefix));
    // Compares the whole origin: `null` and similar suffixes do not match.
    if (!isPreflight && !isOpen && origin !== ownOrigin()) return;
    exposeTo(reply, origin);
    if (origin === ownOrigin()) reply.header("access-control-allow-credentials", "true");
    if (!isPreflight) return;
    reply.header("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
    reply.header(
      "access-control-allow-headers",
      request.headers["access-control-request-headers"] ?? "authorization, content-type",
    );
    reply.header("access-control-max-age", PREFLIGHT_SECONDS);
    return reply.code(204).send();
  });
}

/** Let pages of this origin read the response. */
export function exposeTo(reply: FastifyReply, origin: string): void {
  reply.header("access-control-allow-origin", origin);
  reply.header("access-control-expose-headers", EXPOSED);
}

/**
 * Whether the requesting page belongs to this server: its origin is the configured one, or the very host of the request, because a server
 * without a public URL is reached by several names. A host named by a proxy counts only if that proxy is trusted.
 */
export function isSameOrigin({ headers, host }: FastifyRequest, ownOrigin: string): boolean {
  return headers.origin === ownOrigin || URL.parse(headers.origin ?? "")?.host === host;
}
