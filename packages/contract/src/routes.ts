import { ErrorBody } from "./errors.ts";
import type { Route } from "./route.ts";
import { accessControlRoutes } from "./routes/access-control-routes.ts";
import { accountRoutes } from "./routes/account-routes.ts";
import { assetRoutes } from "./routes/asset-routes.ts";
import { clipRoutes } from "./routes/clip-routes.ts";
import { dataRoutes } from "./routes/data-routes.ts";
import { multistreamRoutes } from "./routes/multistream-routes.ts";
import { playbackRoutes } from "./routes/playback-routes.ts";
import { sessionRoutes } from "./routes/session-routes.ts";
import { streamRoutes } from "./routes/stream-routes.ts";
import { usageRoutes } from "./routes/usage-routes.ts";
import { viewsRoutes } from "./routes/views-routes.ts";
import { webhookRoutes } from "./routes/webhook-routes.ts";

/**
 * Every operation by name. The OpenAPI description and the ownership tests are generated from it; the compiler checks handlers and the client
 * against it.
 */
export const routes = {
  ...streamRoutes,
  ...sessionRoutes,
  ...multistreamRoutes,
  ...assetRoutes,
  ...playbackRoutes,
  ...accountRoutes,
  ...accessControlRoutes,
  ...clipRoutes,
  ...dataRoutes,
  ...usageRoutes,
  ...viewsRoutes,
  ...webhookRoutes,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** Every operation in the form of a request line: `GET /api/stream/:id`. */
export type Operation = { [Name in RouteName]: OperationOf<(typeof routes)[Name]> }[RouteName];

type OperationOf<Of extends Route> = `${Of["method"]} ${Of["path"]}`;

/** The route of an operation. */
export type RouteOf<Wanted extends Operation> = {
  [Name in RouteName]: OperationOf<(typeof routes)[Name]> extends Wanted ? (typeof routes)[Name] : never;
}[RouteName];

/** The error body of every route. */
export const errorResponse = ErrorBody;
