import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { WeirClient } from "@weir/client";
import type { Page } from "playwright-core";
import type { Arena } from "./arena.ts";
import type { WeirServer } from "./weir-server.ts";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** The accessibility violations that axe finds, with their elements. */
export async function violationsOf(page: Page): Promise<string[]> {
  // evaluate() bypasses the page's Content-Security-Policy, which forbids script tags.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(AXE);
  const violations = await page.evaluate<Violation[]>(
    "axe.run({ preload: false }).then(({ violations }) => violations)",
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

/** Signs in on the open page with the server's API key. Resolves when the dashboard is shown. */
export async function signIn(page: Page, weir: WeirServer): Promise<void> {
  await page.getByLabel("API key").fill(weir.apiKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await navigation(page).waitFor();
}

/** A page of the dashboard that nothing has loaded yet, signed in without the form. */
export async function signedInPage({ weir, browser }: Arena<WeirServer>): Promise<Page> {
  const page = await browser.context.newPage();
  await clientIn(page, weir).dashboard.signIn(weir.apiKey);
  return page;
}

/** The API as the page asks it: with its sign-in, in the project of the sign-in or another one of the account. */
export function clientIn(page: Page, weir: WeirServer, projectId?: string): WeirClient {
  const ask = askedBy(page);
  return new WeirClient({
    baseUrl: weir.url,
    maxRetries: 0,
    fetch: (address, init) => {
      const url = new URL(String(address));
      if (projectId !== undefined) url.searchParams.set("projectId", projectId);
      return ask(url, init);
    },
  });
}

/** `fetch` with the page's cookies. */
function askedBy(page: Page): typeof fetch {
  return async (address, { method = "GET", headers = {}, body } = {}) => {
    const response = await page.request.fetch(String(address), {
      method,
      headers: headers as Record<string, string>,
      ...(typeof body === "string" && { data: body }),
    });
    const text = await response.body();
    return new Response(text.length > 0 ? new Uint8Array(text) : null, {
      status: response.status(),
      headers: response.headers(),
    });
  };
}

/** An element of every page except the sign-in page. */
export function navigation(page: Page) {
  return page.getByRole("link", { name: "Settings", exact: true });
}
