import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

/** The files of a folder as a site of another origin than the server's, and `index.html` for every other address. */
export class CustomerSite implements AsyncDisposable {
  readonly origin: string;
  readonly #close: () => void;

  private constructor(origin: string, close: () => void) {
    this.origin = origin;
    this.#close = close;
  }

  static async open(folder: string, address = "127.0.0.1"): Promise<CustomerSite> {
    const server = createServer(async (request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://site.test");
      const file = extname(pathname) === "" ? "index.html" : pathname;
      const bytes = await readFile(join(folder, file)).catch(() => null);
      if (bytes) response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream").end(bytes);
      else response.writeHead(404).end();
    });
    await once(server.listen(0, address), "listening");
    const { port } = server.address() as AddressInfo;
    return new CustomerSite(`http://${address}:${port}`, () => server.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }
}
