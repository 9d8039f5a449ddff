import { readFileSync } from "node:fs";
import swagger from "@fastify/swagger";
import type { Route } from "@weir/contract";
import type { FastifyInstance } from "fastify";

export const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const SECURITY = { key: [{ apiKey: [] }, { dashboard: [] }], dashboard: [{ dashboard: [] }] };

/** Describe all routes that are registered after this call, as OpenAPI 3.1 at `/api/openapi.json`. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Weir", version, description: "Streams, sessions and playback of this server." },
      components: {
        securitySchemes: {
          apiKey: { type: "http", scheme: "bearer" },
          dashboard: { type: "apiKey", in: "cookie", name: "weir_session" },
        },
      },
    },
    // The server parses queries itself, leniently, so their schemas only describe.
    transform: ({ schema, url, route }) => {
      const { route: operation } = (route.config ?? {}) as { route?: Route };
      const query = operation?.query ? { querystring: operation.query } : {};
      const security = operation?.auth === "none" ? {} : { security: SECURITY[operation?.auth ?? "key"] };
      return { schema: { ...schema, ...query, ...security }, url };
    },
  });
  // The description is public, and rendering it takes about 20 ms.
  let text: string | null = null;
  app.get("/api/openapi.json", { schema: { hide: true }, config: { auth: "none" } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    return reply.type("application/json; charset=utf-8").send(text);
  });
}
