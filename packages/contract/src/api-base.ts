import { type Static, Type } from "typebox";

/** The response at the base URL of the API, for a person or program that checks whether the API is there. */
export const ApiBase = Type.Object({
  name: Type.Literal("Weir"),
  version: Type.String(),
  openapi: Type.String({ description: "URL of the API's description, OpenAPI 3.1" }),
  docs: Type.Optional(Type.String({ description: "URL of the guides and the reference" })),
  dashboard: Type.String({ description: "URL of the dashboard" }),
});
export type ApiBase = Static<typeof ApiBase>;
