/** The door of stream health. */

export { healthRoutes } from "./health-routes.ts";
