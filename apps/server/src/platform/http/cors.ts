import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

export interface CorsSettings {
  /** Addresses below these answer any page. */
  readonly openPrefixes: readonly string[];
  /** Pages of this origin may read everything else. */
  readonly ownOrigin: () => string;
}

const PREFLIGHT_SECONDS = "7200";
/** The response headers that pages may read. */
const EXPOSED = "Link, X-Total-Count, RateLimit, RateLimit-Policy, Retry-After, Idempotent-Replayed";

/** Cross-origin rules: a pre-flight is answered to anyone, the answer itself can be read by our own pages and, where open, by all. */
export function addCors(app: FastifyInstance, { openPrefixes, ownOrigin }: CorsSettings): void {
  app.addHook("onRequest", async (request, reply) => {
    const { origin } = request.headers;
    reply.header("vary", "Authorization, Origin");
    if (!origin) return;
    const isPreflight = request.method === "OPTIONS" && "access-control-request-method" in request.headers;
    const isOpen = openPrefixes.some((prefix) => request.url.startsWith(prefix));
    // Compared whole: `null` and look-alike suffixes are other origins.
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

/** Let the pages of this origin read the answer. */
export function exposeTo(reply: FastifyReply, origin: string): void {
  reply.header("access-control-allow-origin", origin);
  reply.header("access-control-expose-headers", EXPOSED);
}

/**
 * Whether the page that sent this request is ours: of the origin that we are known by, or of the very host that was asked, as a server
 * without a public address is reached by several names. The host that a proxy names counts only where that proxy is trusted.
 */
export function isSameOrigin({ headers, host }: FastifyRequest, ownOrigin: string): boolean {
  return headers.origin === ownOrigin || URL.parse(headers.origin ?? "")?.host === host;
}
