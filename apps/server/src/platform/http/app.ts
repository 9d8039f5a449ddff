import { Readable } from "node:stream";
import { type FastifyInstance, fastify } from "fastify";
import type { Log } from "../log.ts";
import { answerBadAddress, answerError, answerUnrouted } from "./app-errors.ts";
import { addCors, type CorsSettings } from "./cors.ts";
import { parseJson, refuseEncodedBody } from "./json-body.ts";
import { KnownPaths } from "./known-paths.ts";
import { addOwnHeaders } from "./own-headers.ts";
import { requestIdOf } from "./request-id.ts";
import { observeRequests, type RequestObserver } from "./request-observer.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";
import { EXPECTS } from "./validation-sentence.ts";

const MAX_BODY = 1024 * 1024;
const MAX_PARAMETER = 500;

/** If the viewer reached a proxy by TLS: the browser then uses only TLS for a year, on any port. */
const STRICT_TRANSPORT = "max-age=31536000";

export interface AppSettings extends CorsSettings {
  readonly log: Log;
  /** The proxies that may say where a request comes from; none if absent. */
  readonly proxies?: TrustedProxies;
  readonly observer?: RequestObserver;
  /** Path of the page that leads to the API's description, for requests that no route matches. */
  readonly docs?: string;
}

/** A Fastify app with Weir's conventions: exact validation, errors in one form, bounded bodies. The owners of routes add them. */
export function createApp({ log, proxies, observer, docs = "/api", ...cors }: AppSettings): FastifyInstance {
  const app = fastify({
    // The log names routes, because URLs may contain tokens.
    logger: false,
    ...(proxies ? { trustProxy: (address: string) => proxies.has(address) } : {}),
    bodyLimit: MAX_BODY,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    genReqId: requestIdOf,
    frameworkErrors: (error, request, reply) => {
      addOwnHeaders(reply, request.id);
      answerBadAddress(error, request, reply);
    },
    ajv: {
      customOptions: {
        coerceTypes: false,
        useDefaults: false,
        removeAdditional: false,
        allErrors: false,
        // The sentence about a failed pattern needs the schema's own words.
        verbose: true,
        keywords: [EXPECTS],
        // Schemas are compiled at every start, and this pass over the code that they become takes half of that time.
        code: { optimize: false },
      },
    },
  });
  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser("application/json", { parseAs: "string" }, async (_request: unknown, body: string) =>
    body === "" ? undefined : parseJson(body),
  );
  app.setErrorHandler(answerError(log));
  app.setNotFoundHandler(answerUnrouted(new KnownPaths(app), docs));
  app.addHook("onRequest", async ({ headers }) => refuseEncodedBody(headers));
  // A content type without a body: the server has already ended the stream, and a parser would wait for its end.
  app.addHook("preParsing", async (_request, _reply, body) =>
    (body as Readable).readableEnded ? Readable.from([]) : body,
  );
  addCors(app, cors);
  if (observer) observeRequests(app, observer);
  app.addHook("onSend", async (request, reply) => {
    if (proxies?.isSecureByProxy(request.raw)) reply.header("strict-transport-security", STRICT_TRANSPORT);
    addOwnHeaders(reply, request.id);
  });
  app.addHook("onResponse", async ({ id: requestId, method, routeOptions }, { statusCode, elapsedTime }) => {
    log.debug({ requestId, method, route: routeOptions.url, statusCode, ms: Math.round(elapsedTime) }, "request");
  });
  return app;
}
