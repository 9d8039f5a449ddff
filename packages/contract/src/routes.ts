import { ErrorBody } from "./errors.ts";
import type { Route } from "./route.ts";
import { accessControlRoutes } from "./routes/access-control-routes.ts";
import { accountRoutes } from "./routes/account-routes.ts";
import { dataRoutes } from "./routes/data-routes.ts";
import { multistreamRoutes } from "./routes/multistream-routes.ts";
import { playbackRoutes } from "./routes/playback-routes.ts";
import { sessionRoutes } from "./routes/session-routes.ts";
import { streamRoutes } from "./routes/stream-routes.ts";
import { viewsRoutes } from "./routes/views-routes.ts";
import { webhookRoutes } from "./routes/webhook-routes.ts";

/** Every operation by name. OpenAPI, the client and the ownership tests are made from it. */
export const routes = {
  ...streamRoutes,
  ...sessionRoutes,
  ...multistreamRoutes,
  ...playbackRoutes,
  ...accountRoutes,
  ...accessControlRoutes,
  ...dataRoutes,
  ...viewsRoutes,
  ...webhookRoutes,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** The error body that every route may answer. */
export const errorResponse = ErrorBody;
