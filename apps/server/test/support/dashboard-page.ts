import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import type { WeirServer } from "./weir-server.ts";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds on the page, with the elements; empty for a page that everybody can use. */
export async function violationsOf(page: Page): Promise<string[]> {
  // Past the page's Content-Security-Policy, which lets no script tag in.
  await page.evaluate(AXE);
  const violations = await page.evaluate<Violation[]>(
    "axe.run({ preload: false }).then(({ violations }) => violations)",
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

/** Signs in at the page that is open, with the server's API key. Resolves when the dashboard is shown. */
export async function signIn(page: Page, weir: WeirServer): Promise<void> {
  await page.getByLabel("API key").fill(weir.apiKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await navigation(page).waitFor();
}

/** Every page of the dashboard has it; the sign-in page has not. */
export function navigation(page: Page) {
  return page.getByRole("link", { name: "Settings", exact: true });
}
