import { WebhookDelivery } from "@weir/contract";
import { AccessQuestion, accessQuestion, eventDescriptions } from "@weir/contract/descriptions";
import type { OpenApiSchemas } from "./openapi-schemas.ts";
import type { Json } from "./openapi-types.ts";

export const WEBHOOK_EVENTS_TAG = "Webhook events";

/** `recording.ready` is `onRecordingReady`. */
const operationIdOf = (event: string): string =>
  `on${event
    .split(".")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("")}`;

const RECEIVED = { description: "The event was received. Weir sends the next one." };
const RETRIED = {
  description: "Weir retries the event for 24 hours with growing delays, in order, and the same after no response.",
};
const DROPPED = {
  description: "Weir drops the event, except after 408, 425 and 429, which it treats like a response of 5xx.",
};

/** The calls that Weir makes to a customer's server, as OpenAPI's `webhooks`. */
export function writeWebhooks(schemas: OpenApiSchemas): Readonly<Record<string, Json>> {
  const deliveries = Object.entries(eventDescriptions).map(([event, { description, example }]) => {
    const responses = { "2XX": RECEIVED, "4XX": DROPPED, "5XX": RETRIED };
    return [event, post(schemas, { event, description, schema: WebhookDelivery, example, responses })] as const;
  });
  const event = "playback.accessControl";
  const responses = {
    "2XX": { description: "The viewer may watch." },
    "4XX": { description: "The viewer may not watch." },
    "5XX": { description: "New viewers may not watch; those whom the webhook admitted before continue for a while." },
  };
  const question = post(schemas, { event, ...accessQuestion, schema: AccessQuestion, responses });
  return { ...Object.fromEntries(deliveries), [event]: question };
}

interface Call {
  readonly event: string;
  readonly description: string;
  readonly schema: object;
  readonly example: unknown;
  readonly responses: Json;
}

function post(schemas: OpenApiSchemas, { event, description, schema, example, responses }: Call): Json {
  return {
    post: {
      operationId: operationIdOf(event),
      tags: [WEBHOOK_EVENTS_TAG],
      summary: event,
      description,
      security: [],
      parameters: [{ $ref: "#/components/parameters/ServiceSignature" }],
      requestBody: { required: true, content: { "application/json": { schema: schemas.write(schema), example } } },
      responses,
    },
  };
}
