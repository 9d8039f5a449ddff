import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Domains } from "../domains/index.ts";
import { MEDIA_PREFIXES } from "../media/index.ts";
import { addSinglePageApp } from "../platform/http/single-page-app.ts";

const DASHBOARD = fileURLToPath(new URL("../../../dashboard/dist", import.meta.url));

/** Addresses below these are answers for programs, never a page of the dashboard. */
const RESERVED_PREFIXES = ["/api/", "/data/", "/analytics/", ...MEDIA_PREFIXES];

/** Any page may read these: players are embedded everywhere. */
export const OPEN_PREFIXES = [
  "/api/playback/",
  "/analytics/",
  ...["/api/data", "/data"].flatMap((data) => [`${data}/analytics/`, `${data}/views/query/total/`]),
];

/** The HTTP API and the dashboard; false if the dashboard is not built. `mediaOrigin` is where the store redirects players to; null where it does not. */
export async function addApi(
  app: FastifyInstance,
  { domains, mediaOrigin }: { readonly domains: Domains; readonly mediaOrigin: string | null },
): Promise<boolean> {
  const template = await readFile(join(DASHBOARD, "watch.html"), "utf8").catch(() => null);
  await app.register((scope) => domains.routes(scope, template === null ? null : { template, mediaOrigin }));
  return addSinglePageApp(app, { folder: DASHBOARD, reservedPrefixes: RESERVED_PREFIXES, mediaOrigin });
}
