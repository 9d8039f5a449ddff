/** The door of access control: who may watch what a policy guards. */
export { signingKeyRoutes } from "./signing-key-routes.ts";
