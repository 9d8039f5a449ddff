import { EXAMPLE_ORIGIN, operationGroups } from "@weir/contract/descriptions";
import { describedRoutes, pathOf } from "./described-routes.ts";
import { OpenApiErrors } from "./openapi-errors.ts";
import { OpenApiOperations } from "./openapi-operation.ts";
import { OpenApiSchemas } from "./openapi-schemas.ts";
import type { Json, OpenApi, Operation } from "./openapi-types.ts";
import { WEBHOOK_EVENTS_TAG, writeWebhooks } from "./openapi-webhooks.ts";

const ABOUT = `The API of a Weir server: live streams, recordings, clips, assets, playback, access control, health, events and webhooks.

Send an API key with every request: \`Authorization: Bearer <key>\`. Times are milliseconds since the Unix epoch, durations are seconds, rates are
bytes per second. Fields that are not set are absent. A request body must match its schema exactly.

Every error has a \`code\` for programs, a \`message\` for people and a \`requestId\` that the server's log names too. More codes, fields, event
types and enumeration values may be added at any time; nothing is renamed or removed.`;

const string = { schema: { type: "string" } } as const;
const integer = { schema: { type: "integer" } } as const;

const HEADERS: Json = {
  "X-Request-Id": {
    ...string,
    description: "Identifies the request in the server's log.",
    example: "9f1c2e7a6b3d4805",
  },
  "Retry-After": { ...integer, description: "Seconds after which to try again.", example: 5 },
  Link: {
    ...string,
    description: 'Address of the next page, with `rel="next"`. Absent on the last page.',
    example: `<${EXAMPLE_ORIGIN}/api/stream?cursor=skip20>; rel="next"`,
  },
  "X-Total-Count": { ...integer, description: "Number of all matches, if the query has `count=true`.", example: 42 },
  RateLimit: {
    ...string,
    description: "Requests left, and seconds until the quota is full again.",
    example: '"default";r=99;t=1',
  },
  "RateLimit-Policy": {
    ...string,
    description: "The quota and its window in seconds.",
    example: '"default";q=100;w=1',
  },
};

const PARAMETERS: Json = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes the request safe to repeat: a second request with the same key, within 24 hours, gets the first one's answer. 1 to 255 visible ASCII characters.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "order-1001",
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The id of the last event that the client has. The feed continues after it.",
    schema: { type: "string" },
  },
  ServiceSignature: {
    name: "Service-Signature",
    in: "header",
    description:
      "`t=<timestamp>,v1=<hex>`: `v1` is the HMAC-SHA256 of the exact bytes of the body, with the webhook's shared secret as its key. Absent without a secret.",
    schema: { type: "string" },
  },
};

/** The whole document. Its server is `EXAMPLE_ORIGIN`, as in its examples. */
export function openApiDocument(version: string): OpenApi {
  const schemas = new OpenApiSchemas();
  const errors = new OpenApiErrors(schemas);
  const operations = new OpenApiOperations(schemas, errors);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const described of describedRoutes) {
    const path = pathOf(described.route);
    paths[path] = { ...paths[path], [described.route.method.toLowerCase()]: operations.write(described) };
  }
  const webhooks = writeWebhooks(schemas);
  return {
    openapi: "3.1.1",
    info: {
      title: "Weir",
      version,
      description: ABOUT,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: EXAMPLE_ORIGIN, description: "This server" }],
    tags: [
      ...operationGroups.map(({ tag, about }) => ({ name: tag, description: about })),
      { name: WEBHOOK_EVENTS_TAG, description: "The calls that Weir makes to your server." },
    ],
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key, created in the dashboard under *Keys*." },
      },
      schemas: schemas.components,
      responses: errors.responses,
      examples: errors.examples,
      headers: HEADERS,
      parameters: PARAMETERS,
    },
  };
}
