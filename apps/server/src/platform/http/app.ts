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

/** Headers of every answer. A handler that answers past the framework adds them itself. */
export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** Where the viewer came by TLS to a proxy: a browser asks by TLS alone from then on, for a year, whatever the port. */
const STRICT_TRANSPORT = "max-age=31536000";

export interface AppSettings extends CorsSettings {
  readonly log: Log;
  /** The proxies that may tell where a request comes from; none where absent. */
  readonly proxies?: TrustedProxies;
  readonly observer?: RequestObserver;
}

/** A Fastify app with this house's rules: exact validation, errors as `{"errors": […]}`, bounded bodies. Routes are added by their owners. */
export function createApp({ log, proxies, observer, ...cors }: AppSettings): FastifyInstance {
  const app = fastify({
    // Requests are logged by route, as addresses may hold tokens.
    logger: false,
    ...(proxies ? { trustProxy: (address: string) => proxies.has(address) } : {}),
    bodyLimit: MAX_BODY,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    // An address that cannot be decoded, or has a part that is too long.
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
  // A content type without a body: the server has ended the stream already, and a parser would wait for its end.
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
