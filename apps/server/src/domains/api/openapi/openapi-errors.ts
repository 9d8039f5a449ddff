import { ERROR_CODES, ErrorBody, type ErrorCode } from "@weir/contract";
import type { OpenApiSchemas } from "./openapi-schemas.ts";
import type { Json } from "./openapi-types.ts";

const EXAMPLE_REQUEST_ID = "9f1c2e7a6b3d4805";

/** The responses of failed requests. Operations with the same errors of a status share one component. */
export class OpenApiErrors {
  readonly #schemas: OpenApiSchemas;
  readonly #responses = new Map<string, Json>();
  readonly #examples = new Map<string, Json>();

  constructor(schemas: OpenApiSchemas) {
    this.#schemas = schemas;
  }

  get responses(): Json {
    return Object.fromEntries(this.#responses);
  }

  get examples(): Json {
    return Object.fromEntries(this.#examples);
  }

  /** By status. */
  responsesOf(codes: readonly ErrorCode[]): Readonly<Record<string, Json>> {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of codes)
      for (const status of ERROR_CODES[code].statuses) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    return Object.fromEntries([...byStatus].map(([status, of]) => [status, this.#reference(status, of)]));
  }

  #reference(status: number, codes: readonly ErrorCode[]): Json {
    const name = `${status}.${codes.join(".")}`;
    if (!this.#responses.has(name)) this.#responses.set(name, this.#response(status, codes));
    return { $ref: `#/components/responses/${name}` };
  }

  #response(status: number, codes: readonly ErrorCode[]): Json {
    const lines = codes.map((code) => `- \`${code}\`: ${ERROR_CODES[code].meaning} ${ERROR_CODES[code].remedy}`);
    const isTemporary = status === 429 || status === 503;
    return {
      description: lines.join("\n"),
      headers: {
        "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
        ...(isTemporary ? { "Retry-After": { $ref: "#/components/headers/Retry-After" } } : {}),
      },
      content: {
        "application/json": {
          schema: this.#schemas.write(ErrorBody),
          examples: Object.fromEntries(codes.map((code) => [code, this.#example(code)])),
        },
      },
    };
  }

  #example(code: ErrorCode): Json {
    const { meaning } = ERROR_CODES[code];
    this.#examples.set(code, {
      summary: meaning,
      value: { errors: [meaning], message: meaning, code, requestId: EXAMPLE_REQUEST_ID, docs: `/docs/errors/${code}` },
    });
    return { $ref: `#/components/examples/${code}` };
  }
}
