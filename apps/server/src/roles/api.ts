import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Domains } from "../domains/index.ts";
import { MEDIA_PREFIXES } from "../media/index.ts";
import { openScripts, serveScripts } from "../platform/http/open-scripts.ts";
import { openPackages, servePackages } from "../platform/http/package-archives.ts";
import { addSinglePageApp } from "../platform/http/single-page-app.ts";

/** The archives of `@weir/client`, `@weir/player` and `@weir/react`, as `npm ci` builds them or a release brings them. */
const PACKAGES = fileURLToPath(new URL("../../../../dist/packages", import.meta.url));
/** The player and the broadcast for pages of other sites, built like the dashboard. */
const ELEMENTS = fileURLToPath(new URL("../../../../packages/player/dist", import.meta.url));
const DASHBOARD = fileURLToPath(new URL("../../../dashboard/dist", import.meta.url));
const DOCUMENTS = fileURLToPath(new URL("../../../../docs", import.meta.url));

/** Addresses below these are answers for programs, never a page of the dashboard. */
const RESERVED_PREFIXES = ["/api/", "/data/", "/analytics/", "/packages/", "/oembed", ...MEDIA_PREFIXES];

/** Any page may read these: players are embedded everywhere. */
export const OPEN_PREFIXES = [
  "/api/playback/",
  "/analytics/",
  "/oembed",
  ...["/api/data", "/data"].flatMap((data) => [`${data}/analytics/`, `${data}/views/query/total/`]),
];

/** Null if the pages are not built. */
const builtPage = (name: string): Promise<string | null> => readFile(join(DASHBOARD, name), "utf8").catch(() => null);

export interface ApiSettings {
  readonly domains: Domains;
  /** Keeps the clients and players of earlier versions. */
  readonly dataFolder: string;
  /** Where the store redirects players to; null where it does not. */
  readonly mediaOrigin: string | null;
}

/** The HTTP API, the documentation, the packages to install, the elements for other pages and the dashboard; false if the pages are not built. */
export async function addApi(
  app: FastifyInstance,
  { domains, dataFolder, mediaOrigin }: ApiSettings,
): Promise<boolean> {
  const [watchPage, docsPage] = await Promise.all(["watch.html", "docs.html"].map(builtPage));
  const player = watchPage ? { template: watchPage, mediaOrigin } : null;
  const docs = docsPage ? { template: docsPage, folder: DOCUMENTS } : null;
  await app.register((scope) => domains.routes(scope, player, docs));
  const scripts = await openScripts(ELEMENTS, join(dataFolder, "packages/player"));
  for (const name of ["player", "broadcast"]) serveScripts(app, name, scripts);
  servePackages(app, await openPackages(PACKAGES, join(dataFolder, "packages")));
  return addSinglePageApp(app, { folder: DASHBOARD, reservedPrefixes: RESERVED_PREFIXES, mediaOrigin });
}
