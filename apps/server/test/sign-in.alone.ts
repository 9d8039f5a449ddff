import type { Page, Route } from "playwright-core";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { navigation, signIn } from "./support/dashboard-page.ts";

const arena = openArena();
let page: Page;

beforeEach(async () => {
  const context = await arena.browser.context.browser()?.newContext({ locale: "en-US" });
  page = (await context?.newPage()) ?? expect.fail("the browser is closed");
  page.setDefaultTimeout(10_000);
  onTestFinished(() => page.context().close());
});

/** Intercepts the first request to `path` and resolves with it. */
function holdFirst(path: string): Promise<Route> {
  return new Promise((resolve) => {
    page.route(`**${path}*`, resolve, { times: 1 });
  });
}

test("a server without a stream shows the first steps, and no list before them", async () => {
  await page.goto(arena.weir.url);
  const figures = holdFirst("/api/dashboard/overview");
  await signIn(page, arena.weir);
  const held = await figures;
  expect(await page.getByRole("heading").allInnerTexts()).toEqual([]);
  await held.continue();
  await page.getByRole("heading", { name: "Create your first stream" }).waitFor();
});

test("a late response from before the sign-in does not undo it while the next page is loading", async () => {
  const earlier = holdFirst("/api/dashboard/session");
  const chunk = holdFirst("/static/settings-page-");
  await page.goto(`${arena.weir.url}/sign-in?to=/settings`);
  const held = await earlier;
  const signedIn = signIn(page, arena.weir);
  const settingsChunk = await chunk;
  // It should have been canceled by then.
  await held.fulfill({ status: 401, json: { errors: ["no session"] } }).catch(() => {});
  await settingsChunk.continue();
  await signedIn;
  await page.getByText("RTMP server").waitFor();
});

test("a 401 for an earlier cookie does not sign the user out; a 401 for the current one does", async () => {
  await page.goto(arena.weir.url);
  const figures = holdFirst("/api/dashboard/overview");
  await signIn(page, arena.weir);
  const asked = page.waitForResponse(/api\/dashboard\/session/);
  await (await figures).fulfill({ status: 401, json: { errors: ["no session"] } });
  expect((await asked).status()).toBe(200);
  expect(await navigation(page).isVisible()).toBe(true);

  await page.context().clearCookies();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
});
