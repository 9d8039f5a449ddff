import type { PlaybackPolicy } from "@weir/contract";
import { ApiError, BadRequest } from "../api/index.ts";
import type { FindAccessWebhook } from "./access-webhook.ts";

/** The context is part of every call to the webhook. */
const MAX_CONTEXT = 16_384;

/** Checks a policy beyond its schema. Throws `BadRequest`; clients know its first text. */
export async function checkPolicy(
  findAccessWebhook: FindAccessWebhook,
  projectId: string,
  policy: PlaybackPolicy | null | undefined,
): Promise<void> {
  if (!policy) return;
  if (policy.type === "webhook") {
    if (!policy.webhookId)
      throw new ApiError(
        400,
        "missing-webhook",
        "playbackPolicy.webhookId is missing: a policy of type webhook needs the id of a webhook for playback.accessControl",
      );
    if (!(await findAccessWebhook(projectId, policy.webhookId))) throw new BadRequest("webhook ID not found");
  }
  if (policy.webhookContext && JSON.stringify(policy.webhookContext).length > MAX_CONTEXT) {
    throw new BadRequest(`webhookContext must be at most ${MAX_CONTEXT} characters as JSON`);
  }
  if (holdsInexactNumber(policy.webhookContext)) {
    throw new BadRequest(
      "webhookContext holds a number beyond 2^53, which would not be passed on exactly: send it as a string",
    );
  }
}

function holdsInexactNumber(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsInexactNumber);
}
