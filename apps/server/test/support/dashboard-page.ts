import type { Page } from "playwright-core";
import type { WeirServer } from "./weir-server.ts";

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
