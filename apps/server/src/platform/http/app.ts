import { Readable } from "node:stream";
import { type FastifyInstance, type FastifyReply, fastify } from "fastify";
import type { Log } from "../log.ts";
import { answerError } from "./app-errors.ts";
import { addCors, type CorsSettings } from "./cors.ts";
import { parseJson } from "./json-body.ts";
import { observeRequests, type RequestObserver } from "./request-observer.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

const MAX_BODY = 1024 * 1024;
const MAX_PARAMETER = 500;

/** Headers of every response. A handler that responds past the framework adds them itself. */
export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** If the viewer reached a proxy by TLS: the browser then uses only TLS for a year, on any port. */
const STRICT_TRANSPORT = "max-age=31536000";

export interface AppSettings extends CorsSettings {
  readonly log: Log;
  /** The proxies that may say where a request comes from; none if absent. */
  readonly proxies?: TrustedProxies;
  readonly observer?: RequestObserver;
}

/** A Fastify app with Weir's conventions: exact validation, errors as `{"errors": […]}`, bounded bodies. The owners of routes add them. */
export function createApp({ log, proxies, observer, ...cors }: AppSettings): FastifyInstance {
  const app = fastify({
    // The log names routes, because URLs may contain tokens.
    logger: false,
    ...(proxies ? { trustProxy: (address: string) => proxies.has(address) } : {}),
    bodyLimit: MAX_BODY,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    // A URL that cannot be decoded, or has a part that is too long.
    frameworkErrors: (error, _request, reply: FastifyReply) =>
      void reply.code(error.statusCode ?? 400).send({ errors: [error.message] }),
    ajv: { customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: false } },
  });
  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "string" }, async (_request: unknown, body: string) =>
    body === "" ? undefined : parseJson(body),
  );
  app.setErrorHandler(answerError(log));
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ errors: ["not found"] }));
  // A content type without a body: the server has already ended the stream, and a parser would wait for its end.
  app.addHook("preParsing", async (_request, _reply, body) =>
    (body as Readable).readableEnded ? Readable.from([]) : body,
  );
  addCors(app, cors);
  if (observer) observeRequests(app, observer);
  app.addHook("onSend", async (request, reply) => {
    if (proxies?.isSecureByProxy(request.raw)) reply.header("strict-transport-security", STRICT_TRANSPORT);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
  });
  app.addHook("onResponse", async ({ method, routeOptions }, { statusCode, elapsedTime }) => {
    log.debug({ method, route: routeOptions.url, statusCode, ms: Math.round(elapsedTime) }, "request");
  });
  return app;
}
