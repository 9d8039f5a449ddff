import type { AnswerOf, BodyOf, Route } from "@weir/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { BadRequest } from "./api-error.ts";
import { answerOnce, IDEMPOTENCY_HEADER, RequestInProgress } from "./idempotency.ts";
import type { RawQuery } from "./list-query.ts";
import { type Principal, principalOf } from "./principal.ts";
import { originOf } from "./request-origin.ts";

/** Returned by a handler that has sent its response itself, past the framework. */
export const ALREADY_SENT = Symbol("the answer was sent by the handler");

/** An authenticated request that fits its schema. */
export interface ApiRequest<Of extends Route = Route> {
  /** Reading it throws on a route without authentication. */
  readonly principal: Principal;
  /** The `:id` of the path. */
  readonly id: string;
  /** All parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: RawQuery;
  readonly body: BodyOf<Of>;
  /** The address of the sender. */
  readonly address: string;
  /** The base URL of this server as the caller reaches it, without a trailing slash; URLs in the response begin with it. */
  readonly origin: string;
  /** Path and query as received, for links to other pages. */
  readonly url: string;
}

export interface RouteOptions {
  /** A missing body means `{}`. */
  readonly mayBeEmpty?: boolean;
  /** The response contains a secret that is not stored, so a second request with the same `Idempotency-Key` cannot get it. */
  readonly showsSecret?: boolean;
}

/** Adds operations of the contract to the app. Exact validation, idempotency and success status work the same for all. */
export class ApiRoutes {
  readonly #app: FastifyInstance;
  readonly #deps: Deps;

  constructor(app: FastifyInstance, deps: Deps) {
    this.#app = app;
    this.#deps = deps;
  }

  on<Of extends Route>(
    route: Of,
    handler: (request: ApiRequest<Of>, reply: FastifyReply) => Promise<AnswerOf<Of> | typeof ALREADY_SENT>,
    { mayBeEmpty = false, showsSecret = false }: RouteOptions = {},
  ): void {
    this.#app.route({
      method: route.method,
      url: route.path,
      schema: route.body ? { body: route.body } : {},
      config: { route },
      preValidation: async (request) => {
        if (mayBeEmpty) request.body ??= {};
        refuseUnstorableText(request.body);
      },
      handler: async (request, reply) => {
        reply.code(route.success.status);
        const answer = () => handler(requestOf(request), reply);
        const given = isIdempotent(route, request)
          ? await this.#once(request, reply, showsSecret, answer)
          : await answer();
        if (given === ALREADY_SENT) return reply;
        return route.success.body ? given : reply.send();
      },
    });
  }

  async #once(request: FastifyRequest, reply: FastifyReply, showsSecret: boolean, answer: () => Promise<unknown>) {
    const { method, url, body } = request;
    const key = String(request.headers[IDEMPOTENCY_HEADER]);
    const principal = principalOf(request);
    try {
      const content = [method, url, principal.projectId, body];
      const { status, isReplayed, ...given } = await answerOnce(
        this.#deps,
        { principal, key, content, showsSecret },
        async () => ({ body: await answer(), status: reply.statusCode }),
      );
      reply.code(status);
      if (isReplayed) reply.header("idempotent-replayed", "true");
      return given.body;
    } catch (error) {
      if (error instanceof RequestInProgress) reply.header("retry-after", "1");
      throw error;
    }
  }
}

/** Repeatable methods (GET, PUT, PATCH, DELETE) need no key. */
const isIdempotent = (route: Route, { headers }: FastifyRequest): boolean =>
  route.method === "POST" && route.auth !== "none" && headers[IDEMPOTENCY_HEADER] !== undefined;

function requestOf<Of extends Route>(request: FastifyRequest): ApiRequest<Of> {
  return {
    get principal() {
      return principalOf(request);
    },
    id: (request.params as { id?: string }).id ?? "",
    params: request.params as Readonly<Record<string, string>>,
    query: request.query as RawQuery,
    body: request.body as BodyOf<Of>,
    address: request.ip,
    get origin() {
      return originOf(request);
    },
    url: request.url,
  };
}

/** PostgreSQL stores no NUL in text, and a lone surrogate would come back as a different character. */
function refuseUnstorableText(value: unknown): void {
  if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed())) {
    throw new BadRequest("texts may hold neither NUL characters nor lone surrogates");
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    refuseUnstorableText(name);
    refuseUnstorableText(inner);
  }
}
