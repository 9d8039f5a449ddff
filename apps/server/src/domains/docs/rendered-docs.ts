import { Worker } from "node:worker_threads";

/** What the documentation is rendered from. */
export interface DocsOrder {
  /** The folder of the documents; null for the API's description alone. */
  readonly folder: string | null;
  /** Of the server, for the API's description. */
  readonly version: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly markdown: string;
  readonly html: string;
}

/** The whole documentation. */
export interface RenderedDocs {
  /** The OpenAPI document, as JSON. */
  readonly openApi: string;
  readonly pages: ReadonlyMap<string, RenderedPage>;
  readonly images: ReadonlyMap<string, Uint8Array>;
  readonly llmsText: string;
  /** What the pages' own script searches, as JSON. */
  readonly searchIndex: string;
}

const DEADLINE_MS = 60_000;
const MEMORY = { maxOldGenerationSizeMb: 256 };

/** Render the documentation in a thread of its own: it takes as long as hundreds of packets, and the longest page alone as long as fifty. */
export function renderDocs(order: DocsOrder): Promise<RenderedDocs> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./docs-worker.ts", import.meta.url), {
      workerData: order,
      env: {},
      resourceLimits: MEMORY,
    });
    // A server that stops does not wait for it.
    worker.unref();
    const deadline = setTimeout(() => void worker.terminate(), DEADLINE_MS).unref();
    worker.once("message", (rendered: RenderedDocs) => resolve(rendered));
    worker.on("error", reject);
    worker.once("exit", () => {
      clearTimeout(deadline);
      reject(new Error("the documentation could not be rendered: its thread ended early"));
    });
  });
}
