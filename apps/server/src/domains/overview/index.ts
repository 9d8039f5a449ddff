/** Public interface of the overview. */
export { type Headroom, overviewRoutes } from "./overview-routes.ts";
