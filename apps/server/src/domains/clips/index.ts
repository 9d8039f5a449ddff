/** Public interface of clips: stretches of streams, recordings and assets as assets of their own. */
export { clipRoutes } from "./clip-routes.ts";
export { clipTask } from "./clip-task.ts";
