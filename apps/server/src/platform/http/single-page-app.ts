import { type Dirent, existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import staticFiles from "@fastify/static";
import type { FastifyInstance } from "fastify";

export interface SinglePageAppSettings {
  /** The built app: `index.html`, and files with a hash in their name below `static/`. */
  readonly folder: string;
  /** URLs below these prefixes are never a page. */
  readonly reservedPrefixes: readonly string[];
  /** Another origin that this server redirects media to; null without one. */
  readonly mediaOrigin: string | null;
}

// hls.js needs workers and blob:. The component library sets styles by script.
const contentSecurityPolicy = (mediaOrigin: string | null): string =>
  [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    `media-src 'self' blob: ${mediaOrigin ?? ""}`,
    "worker-src 'self' blob:",
    `connect-src 'self' ${mediaOrigin ?? ""}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Serve a built web app at `/`: its files, and its page for every other URL that a person may open. False if the app is not built. */
export async function addSinglePageApp(
  app: FastifyInstance,
  { folder, reservedPrefixes, mediaOrigin }: SinglePageAppSettings,
): Promise<boolean> {
  if (!existsSync(join(folder, "index.html"))) {
    app.get("/", (_request, reply) =>
      reply.type("text/plain").send("The dashboard is not built here: run `npm run build`.\n"),
    );
    return false;
  }
  // Names are looked up among the built files, never joined to a path.
  const files = new Set(readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap(nameIn(folder)));
  const policy = contentSecurityPolicy(mediaOrigin);
  await app.register(staticFiles, {
    root: folder,
    serve: false,
    // The build writes `.br` and `.gz` next to each text file.
    preCompressed: true,
    cacheControl: false,
    setHeaders(reply, path) {
      const isHashed = path.startsWith(join(folder, "static"));
      reply.header("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
      // The policy matters for pages; on each of thirty scripts and styles it would waste a third of a kilobyte.
      if (!isHashed) reply.header("content-security-policy", policy);
    },
  });
  app.get("/*", (request, reply) => {
    const name = (request.params as { "*": string })["*"];
    if (files.has(name)) return reply.sendFile(name);
    const isReserved = reservedPrefixes.some((prefix) => request.url.startsWith(prefix));
    const isPage = request.headers.accept?.includes("text/html") && !name.startsWith("static/");
    // The front page accepts any type: a health check of the server asks for none.
    return name === "" || (isPage && !isReserved) ? reply.sendFile("index.html") : reply.callNotFound();
  });
  return true;
}

function nameIn(folder: string) {
  return (entry: Dirent) =>
    entry.isFile() && !/\.(br|gz)$/.test(entry.name) ? [relative(folder, join(entry.parentPath, entry.name))] : [];
}
