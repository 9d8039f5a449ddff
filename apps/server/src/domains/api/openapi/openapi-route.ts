import { readFileSync } from "node:fs";
import { EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import type { FastifyInstance } from "fastify";
import { originOf } from "../request-origin.ts";
import { openApiDocument } from "./openapi-document.ts";

export const { version } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** The API's description at `/api/openapi.json`. It is public. Addresses in it begin as the caller's own. */
export function describeApi(app: FastifyInstance): void {
  // Made for the first reader: it takes a tenth of a second, and most servers have none.
  let template: string | null = null;
  let latest = { origin: "", text: "" };
  app.get("/api/openapi.json", { config: { auth: "none" } }, async (request, reply) => {
    const origin = originOf(request);
    if (latest.origin !== origin) {
      template ??= JSON.stringify(openApiDocument(version));
      latest = { origin, text: template.replaceAll(EXAMPLE_ORIGIN, origin) };
    }
    return reply.type("application/json; charset=utf-8").send(latest.text);
  });
}
