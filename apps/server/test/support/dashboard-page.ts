import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import type { WeirServer } from "./weir-server.ts";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** The accessibility violations that axe finds, with their elements. */
export async function violationsOf(page: Page): Promise<string[]> {
  // evaluate() bypasses the page's Content-Security-Policy, which forbids script tags.
  await page.evaluate(AXE);
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

/** An element of every page except the sign-in page. */
export function navigation(page: Page) {
  return page.getByRole("link", { name: "Settings", exact: true });
}
