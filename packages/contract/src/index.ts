/** What goes over the wire: schemas (TypeBox, so JSON Schema), the types inferred from them, and the table of routes. */
export * from "./account.ts";
export * from "./api-token.ts";
export * from "./errors.ts";
export * from "./event.ts";
export * from "./exact.ts";
export * from "./ingest.ts";
export * from "./later-routes.ts";
export * from "./list.ts";
export * from "./multistream.ts";
export * from "./playback.ts";
export * from "./playback-policy.ts";
export * from "./profile.ts";
export * from "./project.ts";
export type { Route } from "./route.ts";
export * from "./routes.ts";
export * from "./session.ts";
export * from "./stream.ts";
export * from "./stream-info.ts";
