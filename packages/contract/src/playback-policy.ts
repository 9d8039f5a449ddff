import { type Static, Type } from "typebox";
import { exact } from "./exact.ts";

/** The access policy for viewers. `webhookContext` is sent to the customer's webhook unchanged. */
export const PlaybackPolicy = exact({
  type: Type.Enum(["public", "jwt", "webhook"]),
  webhookId: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "For type webhook: id of a webhook registered for playback.accessControl",
    }),
  ),
  webhookContext: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "Free-form; sent with every access check",
    }),
  ),
  refreshInterval: Type.Optional(
    Type.Number({ minimum: 0, description: "Seconds between re-checks of a viewer; default 600" }),
  ),
  allowedOrigins: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 100,
      description:
        "Origins of pages that may play, such as `https://example.com`; all if the list is absent or contains `*`",
    }),
  ),
});
export type PlaybackPolicy = Static<typeof PlaybackPolicy>;
