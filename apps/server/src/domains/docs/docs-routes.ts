import { EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { codingFor } from "../../platform/http/content-coding.ts";
import { originOf } from "../api/index.ts";
import { escapeHtml } from "./markdown-renderer.ts";
import { type RenderedDocs, renderDocs } from "./rendered-docs.ts";

export interface DocsSource {
  /** The folder of the documents. */
  readonly folder: string;
  /** The built page: HTML with a `<title>` and an empty `<div id="docs">`. */
  readonly template: string;
}

const IMAGE_TYPES = { png: "image/png", svg: "image/svg+xml", jpg: "image/jpeg" } as const;
const PLACE = '<div id="docs"></div>';

/** The page's own script talks to this server alone, and nothing in it is anybody's HTML. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** `/docs`: the guides and the reference, each page also as Markdown, and `/llms.txt`. All of it is public. */
export function docsRoutes(app: FastifyInstance, { folder, template }: DocsSource, version: string): void {
  // Rendered for the first reader: most servers start without one. After a failure the next reader tries again.
  let rendered: Promise<RenderedDocs> | null = null;
  const docs = (): Promise<RenderedDocs> => {
    rendered ??= renderDocs({ folder, version }).catch((error) => {
      rendered = null;
      throw error;
    });
    return rendered;
  };
  const open = { config: { auth: "none" } };

  app.get("/llms.txt", open, async (_request, reply) =>
    reply.type("text/plain; charset=utf-8").send((await docs()).llmsText),
  );

  app.get("/docs/search.json", open, async (request, reply) => {
    const { search } = await docs();
    const coding = codingFor(request.headers["accept-encoding"]);
    const etag = `"${search.etag}${coding === null ? "" : `-${coding}`}"`;
    reply.headers({ "cache-control": "no-cache", vary: "Accept-Encoding", etag });
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    if (coding !== null) reply.header("content-encoding", coding);
    return reply.type("application/json; charset=utf-8").send(search[coding ?? "plain"]);
  });

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { "*": name = "" } = request.params as { "*"?: string };
    const path = name.replace(/\/$/, "");
    const { images, pages } = await docs();
    const image = images.get(path);
    if (image) return reply.type(imageType(path)).send(image);
    const isMarkdown = path.endsWith(".md");
    const page = pages.get(isMarkdown ? path.slice(0, -".md".length).replace(/^index$/, "") : path);
    if (!page) return notFound(reply, template);
    reply.header("cache-control", "no-cache");
    const atThisServer = (text: string) => text.replaceAll(EXAMPLE_ORIGIN, originOf(request));
    if (isMarkdown) return reply.type("text/markdown; charset=utf-8").send(atThisServer(page.markdown));
    return sendPage(reply, template, { title: `${page.title} · Weir`, content: atThisServer(page.html) });
  };
  app.get("/docs", open, answer);
  app.get("/docs/*", open, answer);
}

function notFound(reply: FastifyReply, template: string) {
  reply.code(404);
  const content = '<article><h1>Not found</h1><p>There is no such page. <a href="/docs">All pages</a></p></article>';
  return sendPage(reply, template, { title: "Not found · Weir", content });
}

function sendPage(
  reply: FastifyReply,
  template: string,
  { title, content }: { readonly title: string; readonly content: string },
) {
  reply.headers({ "content-type": "text/html; charset=utf-8", "content-security-policy": CONTENT_SECURITY_POLICY });
  // Uses functions, because a replacement text would interpret `$`.
  const html = template
    .replace(/<title>.*<\/title>/, () => `<title>${escapeHtml(title)}</title>`)
    .replace(PLACE, () => `<div id="docs">${content}</div>`);
  return reply.send(html);
}

const imageType = (path: string): string =>
  IMAGE_TYPES[path.slice(path.lastIndexOf(".") + 1) as keyof typeof IMAGE_TYPES] ?? "application/octet-stream";
