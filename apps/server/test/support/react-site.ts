import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Access } from "@weir/contract";
import type { BrowserContext, Page } from "playwright-core";
import { build } from "vite";
import { onTestFinished } from "vitest";
import type { Arena } from "./arena.ts";
import { CustomerSite } from "./customer-site.ts";
import { clientIn, signedInPage } from "./dashboard-page.ts";
import type { WeirServer } from "./weir-server.ts";

const PAGE = fileURLToPath(new URL("react-page.js", import.meta.url));
const REACT = fileURLToPath(new URL("../../../../packages/react/src/index.ts", import.meta.url));

/** A customer's site with the page of `react-page.js`, and a key that was made for its pages. */
export class ReactSite implements AsyncDisposable {
  readonly #arena: Arena<WeirServer>;
  readonly #site: CustomerSite;
  readonly #folder: string;
  readonly #key: string;

  private constructor(arena: Arena<WeirServer>, site: CustomerSite, folder: string, key: string) {
    this.#arena = arena;
    this.#site = site;
    this.#folder = folder;
    this.#key = key;
  }

  /** `rules`: what its pages may do; without them what every page's key may. */
  static async open(arena: Arena<WeirServer>, rules?: NonNullable<Access["rules"]>): Promise<ReactSite> {
    const folder = await mkdtemp(join(tmpdir(), "weir-react-test-"));
    await build({
      configFile: false,
      logLevel: "error",
      resolve: { alias: { "@weir/react": REACT } },
      define: { "process.env.NODE_ENV": '"development"' },
      build: { outDir: folder, lib: { entry: PAGE, formats: ["es"], fileName: "page" }, minify: false },
    });
    await writeFile(join(folder, "index.html"), '<div id="root"></div><script type="module" src="/page.js"></script>');
    const site = await CustomerSite.open(folder);
    const dashboard = await signedInPage(arena);
    const access = { ...(rules && { rules }), cors: { allowedOrigins: [site.origin] } };
    const { key } = await clientIn(dashboard, arena.weir).apiTokens.create({ name: "page", access });
    await dashboard.close();
    return new ReactSite(arena, site, folder, key);
  }

  /** The page with what its address asks for. */
  async page(
    query: Readonly<Record<string, string>>,
    context: Pick<BrowserContext, "newPage"> = this.#arena.browser.context,
  ): Promise<Page> {
    const page = await context.newPage();
    onTestFinished(() => page.close());
    const { url } = this.#arena.weir;
    await page.goto(`${this.#site.origin}/?${new URLSearchParams({ server: url, key: this.#key, ...query })}`);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#site[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true });
  }
}
