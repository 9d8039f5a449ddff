import type { OperationGroup } from "@weir/contract/descriptions";

/** A JSON value that goes into the document as it is. */
export type Json = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly OperationGroup["tag"][];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly security: readonly Json[];
  readonly parameters: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

/** An OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1), as far as Weir writes one. */
export interface OpenApi {
  readonly openapi: "3.1.1";
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly tags: readonly Json[];
  readonly security: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Json>>;
  readonly components: Json;
}
