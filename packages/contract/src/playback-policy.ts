import { type Static, Type } from "typebox";
import { exact } from "./exact.ts";

/** The rule for viewers. `webhookContext` is handed back to the customer's webhook exactly as it is. */
export const PlaybackPolicy = exact({
  type: Type.Enum(["public", "jwt", "webhook"]),
  webhookId: Type.Optional(
    Type.String({ maxLength: 100, description: "For type webhook: one that is registered for playback.accessControl" }),
  ),
  webhookContext: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "Free-form; passed back on every access check",
    }),
  ),
  refreshInterval: Type.Optional(
    Type.Number({ minimum: 0, description: "Seconds between re-checks of a viewer; 600 if unset" }),
  ),
  allowedOrigins: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 100,
      description: "Web pages that may play, such as `https://example.com`; all without a list, or with `*`",
    }),
  ),
});
export type PlaybackPolicy = Static<typeof PlaybackPolicy>;
