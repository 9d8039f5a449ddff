/** The door of clips: stretches of streams, recordings and assets as assets of their own. */
export { clipProcessor } from "./clip-processor.ts";
export { clipRoutes } from "./clip-routes.ts";
