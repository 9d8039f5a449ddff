import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Domains } from "../domains/index.ts";
import { MEDIA_PREFIXES } from "../media/index.ts";
import { addSinglePageApp } from "../platform/http/single-page-app.ts";

const DASHBOARD = fileURLToPath(new URL("../../../dashboard/dist", import.meta.url));
const DOCUMENTS = fileURLToPath(new URL("../../../../docs", import.meta.url));

/** Addresses below these are answers for programs, never a page of the dashboard. */
const RESERVED_PREFIXES = ["/api/", "/data/", "/analytics/", ...MEDIA_PREFIXES];

/** Any page may read these: players are embedded everywhere. */
export const OPEN_PREFIXES = [
  "/api/playback/",
  "/analytics/",
  ...["/api/data", "/data"].flatMap((data) => [`${data}/analytics/`, `${data}/views/query/total/`]),
];

/** Null if the pages are not built. */
const builtPage = (name: string): Promise<string | null> => readFile(join(DASHBOARD, name), "utf8").catch(() => null);

/**
 * The HTTP API, the documentation and the dashboard; false if their pages are not built. `mediaOrigin` is where the store redirects players to;
 * null where it does not.
 */
export async function addApi(
  app: FastifyInstance,
  { domains, mediaOrigin }: { readonly domains: Domains; readonly mediaOrigin: string | null },
): Promise<boolean> {
  const [watchPage, docsPage] = await Promise.all(["watch.html", "docs.html"].map(builtPage));
  const player = watchPage ? { template: watchPage, mediaOrigin } : null;
  const docs = docsPage ? { template: docsPage, folder: DOCUMENTS } : null;
  await app.register((scope) => domains.routes(scope, player, docs));
  return addSinglePageApp(app, { folder: DASHBOARD, reservedPrefixes: RESERVED_PREFIXES, mediaOrigin });
}
