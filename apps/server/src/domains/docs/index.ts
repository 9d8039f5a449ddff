/** The door of the documentation that the server shows: guides, reference, errors. */
export { type DocsSource, docsRoutes } from "./docs-routes.ts";
