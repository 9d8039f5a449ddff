import type { Route } from "@weir/contract";
import {
  type Description,
  describePathParameter,
  describeQueryParameter,
  errorsOf,
  takesIdempotencyKey,
} from "@weir/contract/descriptions";
import type { TSchema } from "typebox";
import type { DescribedRoute } from "./described-routes.ts";
import type { OpenApiErrors } from "./openapi-errors.ts";
import type { OpenApiSchemas } from "./openapi-schemas.ts";
import type { Json, Operation } from "./openapi-types.ts";

const SUCCESS = { 200: "Success.", 201: "Created.", 204: "Done. There is no body." } as const;
const PARAMETER = /:(\w+)/g;

/** Writes operations with their parameters, bodies, answers and errors. */
export class OpenApiOperations {
  readonly #schemas: OpenApiSchemas;
  readonly #errors: OpenApiErrors;

  constructor(schemas: OpenApiSchemas, errors: OpenApiErrors) {
    this.#schemas = schemas;
    this.#errors = errors;
  }

  write({ name, tag, route, description }: DescribedRoute): Operation {
    const body = this.#requestBody(route, description);
    return {
      operationId: name,
      tags: [tag],
      summary: route.summary,
      description: description.description,
      ...(description.deprecatedFor === undefined ? {} : { deprecated: true }),
      security: [
        ...(description.takesKey ? [{}] : []),
        ...(route.auth !== "none" || description.takesKey ? [{ apiKey: [] }] : []),
      ],
      parameters: [
        ...pathParameters(route, description),
        ...this.#queryParameters(route, description),
        ...headers(route, description),
      ],
      ...(body === null ? {} : { requestBody: body }),
      responses: { ...this.#success(route, description), ...this.#errors.responsesOf(errorsOf(route, description)) },
    };
  }

  #queryParameters({ query }: Route, { example }: Description): Json[] {
    const properties = (query as { properties?: Readonly<Record<string, TSchema>> } | undefined)?.properties ?? {};
    return Object.entries(properties).map(([name, property]) => {
      const { description = describeQueryParameter(name), ...schema } = property as TSchema & { description?: string };
      const value = example.query?.[name];
      return {
        name,
        in: "query",
        description,
        schema: this.#schemas.write(schema),
        ...(value === undefined ? {} : { example: readQuery(schema, value) }),
      };
    });
  }

  #requestBody({ body }: Route, { example, looseBody, bodyIsOptional = false }: Description): Json | null {
    const given = looseBody ?? (body ? { schema: body, types: ["application/json"], example: example.body } : null);
    if (given === null) return null;
    const content = { schema: this.#schemas.write(given.schema), example: given.example };
    return { required: !bodyIsOptional, content: Object.fromEntries(given.types.map((type) => [type, content])) };
  }

  #success(route: Route, { example, alsoAnswers, eventStream }: Description): Readonly<Record<string, Json>> {
    const { status, body } = route.success;
    const content = {
      ...(body === null ? {} : { "application/json": { schema: this.#schemas.write(body), example: example.answer } }),
      ...(eventStream === undefined
        ? {}
        : { "text/event-stream": { schema: { type: "string" }, example: eventStream } }),
    };
    const answer = {
      headers: answerHeaders(route),
      ...(Object.keys(content).length === 0 ? {} : { content }),
    };
    return {
      [status]: { description: SUCCESS[status], ...answer },
      ...(alsoAnswers === undefined
        ? {}
        : { [alsoAnswers.status]: { description: alsoAnswers.description, ...answer } }),
    };
  }
}

function pathParameters({ path }: Route, { example }: Description): Json[] {
  return [...path.matchAll(PARAMETER)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: describePathParameter(path, name),
    schema: { type: "string" },
    example: example.params?.[name],
  }));
}

function headers(route: Route, { eventStream }: Description): Json[] {
  return [
    ...(takesIdempotencyKey(route) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ...(eventStream === undefined ? [] : [{ $ref: "#/components/parameters/LastEventId" }]),
  ];
}

function answerHeaders({ query, auth }: Route): Json {
  const isList = query !== undefined && "cursor" in ((query as { properties?: object }).properties ?? {});
  const names = [
    "X-Request-Id",
    ...(isList ? ["Link", "X-Total-Count"] : []),
    ...(auth === "none" ? [] : ["RateLimit", "RateLimit-Policy"]),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** A text of an address as a value of its schema. */
function readQuery(schema: object, value: string): unknown {
  const { type } = schema as { type?: string };
  if (type === "integer") return Number(value);
  if (type === "boolean") return value === "true";
  return type === "array" ? value.split(",") : value;
}
