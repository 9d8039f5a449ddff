import type { webhookRoutes } from "../routes/webhook-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import { ids, times, webhook, webhookCall } from "./example-objects.ts";

const body = {
  name: "backend",
  url: webhook.url,
  events: webhook.events,
  sharedSecret: "a long random text",
};

export const webhookDescriptions: DescriptionsOf<typeof webhookRoutes> = {
  createWebhook: {
    description:
      "Registers a URL on your server that Weir calls when one of the chosen events happens. With `sharedSecret`, every call is signed. Deliveries are in order for each stream, and are retried for a day. Addresses in private networks are refused. Responds with 200 where other creations respond with 201: clients of the public API expect that.",
    example: { body, answer: webhook },
    errors: ["bad-request", "private-address", "not-found"],
  },
  listWebhooks: {
    description:
      "Returns the project's webhooks with the result of their last call and the number of events that wait. No response contains the shared secret.",
    example: { answer: [webhook] },
    errors: ["bad-request"],
  },
  deleteWebhooks: {
    description:
      "Deletes several webhooks with their logs and waiting events, in one transaction. If one id is unknown, none is deleted.",
    example: { body: { ids: [ids.webhook] } },
    errors: ["not-found", "missing-ids"],
  },
  listSubscribedWebhooks: {
    description:
      "Returns the webhooks of the project that are registered for one event, for example to see which receivers get `recording.ready`.",
    example: { params: { event: "stream.started" }, answer: [webhook] },
    errors: ["bad-request", "not-found"],
  },
  getWebhook: {
    description:
      "Returns one webhook with its status: the last call, the last failure, how many events wait, and whether deliveries are paused and why.",
    example: { params: { id: ids.webhook }, answer: webhook },
    errors: ["not-found"],
  },
  replaceWebhook: {
    description:
      "Replaces the whole webhook: fields that are left out are cleared. The record from `getWebhook` can be sent back unchanged: `isSigned: true` without `sharedSecret` keeps the secret.",
    example: { params: { id: ids.webhook }, body, answer: webhook },
    errors: ["bad-request", "private-address", "not-found"],
  },
  patchWebhook: {
    description:
      "Changes the given fields of a webhook. `paused: true` keeps events for up to 7 days without delivering them, and `paused: false` delivers the waiting events. Responds with 204 without a body: clients of the public API expect that.",
    example: { params: { id: ids.webhook }, body: { paused: false } },
    errors: ["bad-request", "private-address", "not-found"],
  },
  deleteWebhook: {
    description:
      "Deletes a webhook together with its log and the events that wait for delivery. The response is the deleted webhook.",
    example: { params: { id: ids.webhook }, answer: webhook },
    errors: ["not-found"],
  },
  listWebhookLogs: {
    description:
      "Returns the calls that were made to a webhook, each with the request as it was sent and the response. The latest 1,000 calls are kept for 7 days.",
    example: { params: { id: ids.webhook }, answer: [webhookCall] },
    errors: ["bad-request", "not-found"],
  },
  getWebhookLog: {
    description:
      "Returns one call with its full request and the start of the response, to see why a receiver refused an event.",
    example: { params: { id: ids.webhook, logId: ids.call }, answer: webhookCall },
    errors: ["not-found"],
  },
  resendWebhookLog: {
    description:
      "Sends the body of an earlier call once more and waits for the response. The id of the event stays the same; the timestamp and the signature are new.",
    example: { params: { id: ids.webhook, logId: ids.call }, answer: { ...webhookCall, attempt: 2 } },
    errors: ["not-found"],
  },
  replayWebhook: {
    description:
      "Queues the events of a time range for delivery again, for a receiver that has lost data. They keep their ids and their order, so a receiver can skip events that it has already processed.",
    example: {
      params: { id: ids.webhook },
      body: { from: times.started, to: times.ended },
      answer: { events: 12 },
    },
    errors: ["bad-request", "not-found"],
  },
  takeWebhookRequests: {
    description:
      "Returns the requests that wait for a paused webhook, signed and in the order of each stream, and removes them. A receiver that Weir cannot call, such as one on your laptop, fetches its events with this; `weir webhooks listen` does so. At most 320 are returned at a time.",
    example: {
      params: { id: ids.webhook },
      answer: {
        requests: [{ event: "stream.started", headers: webhookCall.request.headers, body: webhookCall.request.body }],
      },
    },
    errors: ["bad-request", "not-found"],
  },
  testWebhook: {
    description: "Sends a test event to the webhook and returns the request and the response.",
    example: { params: { id: ids.webhook }, body: { event: "stream.started" }, answer: webhookCall },
    errors: ["not-found"],
    bodyIsOptional: true,
  },
};
