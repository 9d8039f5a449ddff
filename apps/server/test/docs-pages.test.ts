import type { BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { clientIn, violationsOf } from "./support/dashboard-page.ts";

const PAGES = ["/docs", "/docs/watch/access", "/docs/reference", "/docs/reference/streams", "/docs/errors/not-found"];
const PHONE = { width: 390, height: 844 };

const arena = shareArena();

/** A browser of its own: what it signs in to is nobody else's. */
async function openContext(): Promise<BrowserContext> {
  const context = await arena.browser.context.browser()?.newContext();
  if (!context) throw new Error("the browser is gone");
  onTestFinished(() => context.close());
  return context;
}

/** The addresses of other hosts that the pages of a context asked for. */
function foreignRequests(context: BrowserContext): string[] {
  const { host } = new URL(arena.weir.url);
  const found: string[] = [];
  context.on("request", (request) => {
    if (new URL(request.url()).host !== host) found.push(request.url());
  });
  return found;
}

const tablesBeyond = (page: Page) =>
  page.evaluate<number>(
    '[...document.querySelectorAll(".table")].filter((table) => table.scrollWidth > table.clientWidth).length',
  );
const widthBeyond = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

test.each(PAGES)("%s is accessible, fits a phone, and asks no other host", async (path) => {
  const context = await openContext();
  const foreign = foreignRequests(context);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${arena.weir.url}${path}`);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violationsOf(page)).toEqual([]);
  }
  await page.setViewportSize(PHONE);
  expect([await widthBeyond(page), await tablesBeyond(page)]).toEqual([0, 0]);
  expect(await violationsOf(page)).toEqual([]);
  expect([foreign, problems]).toEqual([[], []]);
});

test("an operation is tried with a key and without the dashboard's cookie, and the key is gone with the page", async () => {
  const context = await openContext();
  const foreign = foreignRequests(context);
  const page = await context.newPage();
  await clientIn(page, arena.weir).dashboard.signIn(arena.weir.apiKey);
  expect(await context.cookies()).toHaveLength(1);
  await page.goto(`${arena.weir.url}/docs/reference/streams`);
  await page.getByRole("button", { name: "Try it" }).first().click();
  const form = page.locator("form.try-out");
  const name = `tried ${Date.now()}`;
  await form.getByLabel("Body").fill(JSON.stringify({ name }));
  const send = async () => {
    const asked = page.waitForRequest(
      (request) => request.url().endsWith("/api/stream") && request.method() === "POST",
    );
    await form.getByRole("button", { name: "Send request" }).click();
    return (await asked).allHeaders();
  };
  // The cookie is there and is not sent.
  expect(await send()).not.toHaveProperty("cookie");
  await form.getByText("401").waitFor();
  await form.getByLabel("API key").fill(arena.weir.apiKey);
  expect(await send()).not.toHaveProperty("cookie");
  await form.getByText("201").waitFor();
  await form.getByText(name).last().waitFor();
  expect(await violationsOf(page)).toEqual([]);
  const stored = await page.evaluate<number>("localStorage.length + sessionStorage.length");
  await page.reload();
  await page.getByRole("button", { name: "Try it" }).first().click();
  expect([await form.getByLabel("API key").inputValue(), stored, foreign]).toEqual(["", 0, []]);
});

test("search finds a guide, an operation and an error, and a sample changes its language", async () => {
  const page = await (await openContext()).newPage();
  await page.goto(`${arena.weir.url}/docs`);
  for (const [words, title] of [
    ["signed tokens", "Signed tokens"],
    ["rotate", "Rotate the stream key"],
    ["idempotency-key-reused", "idempotency-key-reused"],
  ] as const) {
    await page.getByLabel("Search").fill(words);
    await page.locator("#results").getByText(title).first().waitFor();
  }
  await page.getByLabel("Search").fill("rotate the stream key");
  await page.locator("#results a").first().click();
  await page.waitForURL(/\/docs\/reference\/streams#rotate/);
  await page.getByRole("button", { name: "Python" }).first().click();
  await page.getByText("import requests").first().waitFor();
});
