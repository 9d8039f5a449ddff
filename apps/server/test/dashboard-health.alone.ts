import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { signedInPage } from "./support/dashboard-page.ts";

const arena = openArena();

async function signedIn(): Promise<Page> {
  const page = await signedInPage(arena);
  onTestFinished(() => page.close());
  // Chromium's name for the POSIX locale, which no number formatter supports.
  await page.addInitScript('Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix" })');
  return page;
}

test("an operator sees that a stream is unhealthy, why, what to change, and that it helped", async () => {
  await using broadcast = await startBroadcast(arena.weir, { gopSeconds: 10, stream: { profiles: [] } });
  const page = await signedIn();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${arena.weir.url}/streams/${broadcast.stream.id}?tab=health`);

  await page.getByRole("link", { name: /Unhealthy The keyframe interval is/ }).waitFor({ timeout: 20_000 });
  await page.getByText("Set the keyframe interval of the encoder to 2 s.").waitFor();
  // One diagnosis: in the header, above the checks, at the source, and as the issue.
  await expect.poll(() => page.getByText(/^The keyframe interval is at least/).count()).toBeGreaterThanOrEqual(3);

  await broadcast.publish({ gopSeconds: 2 });
  await page.getByText("All health checks pass.").waitFor({ timeout: 20_000 });
  await page.getByText("No issues.").waitFor();
  // Nobody watches but the dashboard: three charts, and no line along a zero.
  await page.getByText("No viewers in this period").waitFor();
  await expect.poll(() => page.locator("figure canvas").count()).toBe(3);

  await page.getByRole("tab", { name: "Events" }).click();
  const line = (text: string) => page.locator("details", { hasText: text });
  await line("Resolved: The keyframe interval is").waitFor();
  await line("The stream started.").click();
  await page.getByText('"type": "stream_state"').waitFor();

  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await broadcast.publisher.stop();
  await page.getByText(/[1-9]\d* new events?/).waitFor();
  expect(await line("The stream stopped.").count()).toBe(0);
  await page.getByRole("button", { name: "Resume" }).click();
  await line("The stream stopped.").waitFor();
  await page.getByText("Idle, last live").waitFor();
  expect(problems).toEqual([]);
});

test("the event log resumes by itself after the server was killed, with every event once", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: [] } });
  const { id, createdAt } = broadcast.stream;
  const page = await signedIn();
  await page.goto(`${arena.weir.url}/streams/${id}?tab=events&show=all`);
  await page.getByText("The stream started.").waitFor();

  await arena.weir.kill();
  // A second try needs the server too.
  await page
    .getByText("Connecting. Events")
    .waitFor()
    .finally(() => arena.weir.restart());
  await broadcast.publish();
  await broadcast.untilState("live");
  await broadcast.publisher.stop();
  await page.getByText("The stream stopped.").waitFor({ timeout: 20_000 });

  const logged: string[] = [];
  for await (const event of arena.weir.client.streams.events(id, { from: createdAt, to: Date.now() }))
    logged.push(event.id);
  const rows = page.locator("details");
  await expect.poll(() => rows.count()).toBe(logged.length);
  await page.getByLabel("Search events").fill(logged[0] ?? "none");
  await expect.poll(() => rows.count()).toBe(1);
});

test("live rows keep their places while every segment changes when a stream was last seen", async () => {
  // Other lengths of segments, so that theirs do not end together each time: which was last would never be seen to change.
  await using first = await startBroadcast(arena.weir, { gopSeconds: 2, stream: { profiles: [] } });
  await using second = await startBroadcast(arena.weir, { gopSeconds: 3, stream: { profiles: [] } });
  const page = await signedIn();
  await page.goto(`${arena.weir.url}/streams?state=active`);
  const ids = [second.stream.id, first.stream.id];
  const shown = async (): Promise<string[]> => {
    const rows = await page.getByRole("row").allInnerTexts();
    return ids.toSorted((a, b) => placeOf(rows, a) - placeOf(rows, b));
  };
  const placeOf = (rows: readonly string[], id: string): number =>
    rows.findIndex((row) =>
      row.includes([first, second].find(({ stream }) => stream.id === id)?.stream.playbackId ?? ""),
    );
  for (const { stream } of [first, second]) await page.getByText(stream.playbackId).waitFor();
  const lastSeen = async () => (await arena.weir.client.streams.list({ active: true })).items[0]?.id;
  const newest = await lastSeen();
  await expect.poll(lastSeen, { timeout: 20_000, interval: 100 }).toBe(ids.find((id) => id !== newest));
  await page.waitForResponse((response) => response.url().includes("/api/stream?"));
  // The newest stream is first, whichever had the last segment.
  expect(await shown()).toEqual(ids);
});

test("a row of the streams list has a menu, by mouse and keyboard, and no request for each row", async () => {
  const { client } = arena.weir;
  const name = `Menu ${randomUUID()}`;
  const stream = await client.streams.create({ name });
  await client.streams.create({ name: "Neighbour" });
  const page = await signedIn();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${arena.weir.url}/streams`);
  const opener = page.getByRole("button", { name: `Actions for ${name}`, exact: true });
  await opener.click();
  await page.getByRole("menuitem", { name: "Suspend…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Suspend", exact: true }).click();
  await expect.poll(async () => (await client.streams.get(stream.id)).suspended).toBe(true);
  await page.getByRole("dialog").waitFor({ state: "hidden" });

  const focused = () => page.evaluate("document.activeElement?.getAttribute('aria-label')");
  await expect.poll(focused).toBe(`Actions for ${name}`);
  await page.keyboard.press("Enter");
  // The menu takes the focus a moment after it is seen, and each key then goes to the item that has it.
  await expect.poll(() => page.evaluate("document.activeElement?.closest('[role=menu]') !== null")).toBe(true);
  const item = () => page.evaluate("document.activeElement?.textContent");
  await page.keyboard.press("ArrowDown");
  await expect.poll(item).toMatch(/^(Health|Sessions)$/);
  await page.keyboard.press("End");
  await expect.poll(item).toBe("Delete stream…");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: `Delete ${name}?` }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect.poll(async () => (await client.streams.list()).items.map(({ id }) => id)).not.toContain(stream.id);
  expect(asked.filter((path) => path === "/api/data/views/query").length).toBe(1);
});

test("the small player has room for its words; a phone has one row of tabs, and every page in its bar", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: [] } });
  const page = await signedIn();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${arena.weir.url}/streams/${broadcast.stream.id}?tab=viewers`);
  const realTime = page.getByRole("button", { name: "Real time" });
  await realTime.waitFor();
  const words = await page.evaluate<{ isWhole: boolean; isInside: boolean }>(`(() => {
    const { shadowRoot } = document.querySelector("weir-player");
    const button = shadowRoot.querySelector(".w-player-realtime");
    const next = shadowRoot.querySelector("media-fullscreen-button");
    return {
      isWhole: button.scrollWidth <= button.clientWidth && button.scrollHeight <= button.clientHeight,
      isInside: button.getBoundingClientRect().right <= next.getBoundingClientRect().left,
    };
  })()`);
  expect(words).toEqual({ isWhole: true, isInside: true });
  expect(await page.getByRole("button", { name: "Unmute", exact: true }).count()).toBe(0);

  await page.setViewportSize({ width: 390, height: 844 });
  const tabs = await page.getByRole("tab").all();
  const tops = await Promise.all(tabs.map(async (tab) => (await tab.boundingBox())?.y));
  expect([tabs.length, new Set(tops).size]).toEqual([7, 1]);
  const usage = page.getByRole("link", { name: "Usage", exact: true });
  expect(await usage.isVisible()).toBe(false);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  await usage.click();
  await page.getByRole("heading", { name: "Usage", exact: true }).waitFor();
  await expect.poll(() => usage.isVisible()).toBe(false);
});
