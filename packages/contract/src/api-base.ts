import { type Static, Type } from "typebox";

/** The answer at the base of the API, for a person or a program that looks whether it is there. */
export const ApiBase = Type.Object({
  name: Type.Literal("Weir"),
  version: Type.String(),
  openapi: Type.String({ description: "Address of the API's description, OpenAPI 3.1" }),
  dashboard: Type.String({ description: "Address of the dashboard" }),
});
export type ApiBase = Static<typeof ApiBase>;
