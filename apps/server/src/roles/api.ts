import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Domains } from "../domains/index.ts";
import { MEDIA_PREFIXES } from "../media/index.ts";
import { addSinglePageApp } from "../platform/http/single-page-app.ts";
import type { Log } from "../platform/log.ts";

const DASHBOARD = fileURLToPath(new URL("../../../dashboard/dist", import.meta.url));

/** Addresses below these are answers for programs, never a page of the dashboard. */
const RESERVED_PREFIXES = ["/api/", "/data/", "/analytics/", ...MEDIA_PREFIXES];

/** Any page may read these: players are embedded everywhere. */
export const OPEN_PREFIXES = [
  "/api/playback/",
  "/analytics/",
  ...["/api/data", "/data"].flatMap((data) => [`${data}/analytics/`, `${data}/views/query/total/`]),
];

/** The HTTP API and the dashboard. `mediaOrigin` is where the store redirects players to; null where it does not. */
export async function addApi(
  app: FastifyInstance,
  { domains, log, mediaOrigin }: { readonly domains: Domains; readonly log: Log; readonly mediaOrigin: string | null },
): Promise<void> {
  const template = await readFile(join(DASHBOARD, "watch.html"), "utf8").catch(() => null);
  await app.register((scope) => domains.routes(scope, template === null ? null : { template, mediaOrigin }));
  const isBuilt = await addSinglePageApp(app, { folder: DASHBOARD, reservedPrefixes: RESERVED_PREFIXES, mediaOrigin });
  if (!isBuilt) log.warn("the dashboard is not built, so / has no page: run `npm run build` and start again");
}
