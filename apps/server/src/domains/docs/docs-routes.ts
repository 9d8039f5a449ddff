import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../platform/clock.ts";
import { clientOf } from "../../platform/limits/client.ts";
import { originOf } from "../api/index.ts";
import { escapeHtml } from "./markdown-renderer.ts";
import { type RenderedDocs, renderDocs } from "./rendered-docs.ts";
import { sendShared } from "./shared-answer.ts";
import { TextsOfOrigin } from "./texts-of-origin.ts";

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

/** `/api/openapi.json`, and `/docs`: the guides and the reference, each page also as Markdown, and `/llms.txt`. All of it is public. */
export function docsRoutes(
  app: FastifyInstance,
  { source, version, clock }: { readonly source: DocsSource | null; readonly version: string; readonly clock: Clock },
): void {
  // Rendered for the first reader: most servers start without one. After a failure the next reader tries again.
  let rendered: Promise<RenderedDocs> | null = null;
  const docs = (): Promise<RenderedDocs> => {
    rendered ??= renderDocs({ folder: source?.folder ?? null, version }).catch((error) => {
      rendered = null;
      throw error;
    });
    return rendered;
  };
  const texts = new TextsOfOrigin(clock);
  const open = { config: { auth: "none" } };
  const file = (path: string, type: string, read: (rendered: RenderedDocs) => string) =>
    app.get(path, open, async (request, reply) => {
      const all = await docs();
      return sendShared(request, reply, { type, text: texts.get(askerOf(request), path, () => read(all)) });
    });

  file("/api/openapi.json", "application/json", ({ openApi }) => openApi);
  if (source === null) return;
  const { template } = source;
  file("/llms.txt", "text/plain", ({ llmsText }) => llmsText);
  file("/docs/search.json", "application/json", ({ searchIndex }) => searchIndex);

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { "*": name = "" } = request.params as { "*"?: string };
    const path = name.replace(/\/$/, "");
    const { images, pages } = await docs();
    const image = images.get(path);
    if (image) return reply.type(imageType(path)).send(image);
    const isMarkdown = path.endsWith(".md");
    const page = pages.get(isMarkdown ? path.slice(0, -".md".length).replace(/^index$/, "") : path);
    if (!page) return notFound(reply, template);
    const write = () =>
      isMarkdown ? page.markdown : filled(template, { title: `${page.title} · Weir`, content: page.html });
    if (!isMarkdown) reply.header("content-security-policy", CONTENT_SECURITY_POLICY);
    const text = texts.get(askerOf(request), `/docs/${path}`, write);
    return sendShared(request, reply, { type: isMarkdown ? "text/markdown" : "text/html", text });
  };
  app.get("/docs", open, answer);
  app.get("/docs/*", open, answer);
}

const askerOf = (request: FastifyRequest) => ({ origin: originOf(request), client: clientOf(request.ip) });

function notFound(reply: FastifyReply, template: string) {
  const content = '<article><h1>Not found</h1><p>There is no such page. <a href="/docs">All pages</a></p></article>';
  reply.code(404).header("content-security-policy", CONTENT_SECURITY_POLICY);
  return reply.type("text/html; charset=utf-8").send(filled(template, { title: "Not found · Weir", content }));
}

/** Uses functions, because a replacement text would interpret `$`. */
const filled = (template: string, { title, content }: { readonly title: string; readonly content: string }): string =>
  template
    .replace(/<title>.*<\/title>/, () => `<title>${escapeHtml(title)}</title>`)
    .replace(PLACE, () => `<div id="docs">${content}</div>`);

const imageType = (path: string): string =>
  IMAGE_TYPES[path.slice(path.lastIndexOf(".") + 1) as keyof typeof IMAGE_TYPES] ?? "application/octet-stream";
