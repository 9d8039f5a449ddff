import { createHash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { openApiDocument } from "../api/index.ts";
import { DocsSite, type SearchEntry } from "./docs-site.ts";
import type { DocsOrder, RenderedDocs, SearchIndex } from "./rendered-docs.ts";

/** The best quality takes ten times as long for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

// The thread of `renderDocs`: one order, one answer.
const { folder, version } = workerData as DocsOrder;
const site = new DocsSite(folder, openApiDocument(version));
const answer: RenderedDocs = {
  pages: new Map(
    [...site.pages.values()].map((page) => [
      page.path,
      { title: page.title, markdown: page.markdown, html: site.html(page) },
    ]),
  ),
  images: site.images,
  llmsText: site.llmsText(),
  search: searchIndex(site.searchEntries()),
};
parentPort?.postMessage(answer);

function searchIndex(entries: readonly SearchEntry[]): SearchIndex {
  const plain = Buffer.from(JSON.stringify(entries));
  return {
    etag: createHash("sha256").update(plain).digest("base64url").slice(0, 22),
    plain,
    br: brotliCompressSync(plain, BROTLI),
    gzip: gzipSync(plain),
  };
}
