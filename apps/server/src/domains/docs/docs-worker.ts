import { parentPort, workerData } from "node:worker_threads";
import { openApiDocument } from "../api/index.ts";
import { DocsSite } from "./docs-site.ts";
import type { DocsOrder, RenderedDocs } from "./rendered-docs.ts";

// The thread of `renderDocs`: one order, one answer.
const { folder, version } = workerData as DocsOrder;
const document = openApiDocument(version);
const site = new DocsSite(folder, document);
const answer: RenderedDocs = {
  openApi: JSON.stringify(document),
  pages: new Map(
    [...site.pages.values()].map((page) => [
      page.path,
      { title: page.title, markdown: page.markdown, html: site.html(page) },
    ]),
  ),
  images: site.images,
  llmsText: site.llmsText(),
  searchIndex: JSON.stringify(site.searchEntries()),
};
parentPort?.postMessage(answer);
