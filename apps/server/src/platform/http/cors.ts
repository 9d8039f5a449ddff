import type { FastifyInstance } from "fastify";

export interface CorsSettings {
  /** Addresses below these answer any page. */
  readonly openPrefixes: readonly string[];
  /** Pages of this origin may read everything else. */
  readonly ownOrigin: () => string;
}

const PREFLIGHT_SECONDS = "7200";

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
    reply.header("access-control-allow-origin", origin);
    reply.header("access-control-expose-headers", "Link, X-Total-Count");
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
