import { ErrorBody, type Route } from "@weir/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { authenticate, type Principal, Unauthenticated } from "./accounts/index.ts";
import { BadRequest } from "./api-error.ts";
import type { Deps } from "./deps.ts";
import type { RawQuery } from "./list-query.ts";

type BodyOf<Of extends Route> = Of extends { readonly body: infer Body extends TSchema } ? Static<Body> : undefined;

/** A request that has been authenticated and fits its schema. */
export interface ApiRequest<Of extends Route> {
  /** Throws on a route without authentication. */
  readonly principal: Principal;
  /** The `:id` of the path. */
  readonly id: string;
  /** Every parameter of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: RawQuery;
  readonly body: BodyOf<Of>;
  /** Path and query as they came, for links to other pages. */
  readonly url: string;
}

export interface RouteOptions {
  /** A request without a body means `{}`. */
  readonly mayBeEmpty?: boolean;
}

/** Adds operations of the contract to the app: authentication, exact validation and the status of success are the same for all. */
export class ApiRoutes {
  readonly #app: FastifyInstance;
  readonly #deps: Deps;

  constructor(app: FastifyInstance, deps: Deps) {
    this.#app = app;
    this.#deps = deps;
  }

  on<Of extends Route>(
    route: Of,
    handler: (request: ApiRequest<Of>, reply: FastifyReply) => Promise<unknown>,
    { mayBeEmpty = false }: RouteOptions = {},
  ): void {
    const principals = new WeakMap<object, Principal>();
    this.#app.route({
      method: route.method,
      url: route.path,
      schema: { summary: route.summary, ...(route.body ? { body: route.body } : {}), response: responses(route) },
      config: { route },
      onRequest: async (request) => {
        if (route.auth === "key") principals.set(request, await authenticate(this.#deps, request));
      },
      preValidation: async (request) => {
        if (mayBeEmpty) request.body ??= {};
        refuseUnstorableText(request.body);
      },
      handler: async (request, reply) => {
        reply.code(route.success.status);
        const answer = await handler(
          {
            get principal() {
              const principal = principals.get(request);
              if (!principal) throw new Unauthenticated();
              return principal;
            },
            id: (request.params as { id?: string }).id ?? "",
            params: request.params as Readonly<Record<string, string>>,
            query: request.query as RawQuery,
            body: request.body as BodyOf<Of>,
            url: request.url,
          },
          reply,
        );
        return route.success.body ? answer : reply.send();
      },
    });
  }
}

function responses(route: Route): Record<number, TSchema> {
  const failed = [...route.failures, ...(route.auth === "key" ? [401, 403] : [])];
  return {
    [route.success.status]: route.success.body ?? Type.Null(),
    ...Object.fromEntries(failed.map((status) => [status, ErrorBody])),
  };
}

/** PostgreSQL keeps no NUL in a text, and a lone surrogate would come back as another character. */
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
