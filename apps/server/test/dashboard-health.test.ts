import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";

const arena = openArena();

async function signedIn(): Promise<Page> {
  const page = await arena.browser.context.newPage();
  await page.goto(arena.weir.url);
  await page.getByLabel("API key").fill(arena.weir.apiKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").waitFor();
  return page;
}

test("an operator sees that a stream is not well, why, what to change, and that it helped", async () => {
  await using broadcast = await startBroadcast(arena.weir, { gopSeconds: 10, stream: { profiles: [] } });
  const page = await signedIn();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${arena.weir.url}/streams/${broadcast.stream.id}?tab=health`);

  await page.getByRole("link", { name: /Unhealthy The keyframe interval is/ }).waitFor({ timeout: 20_000 });
  await page.getByText("Set the keyframe interval of the encoder to 2 s.").waitFor();
  await page.getByText("What the broadcaster sends is not as it should be.").waitFor();

  await broadcast.publish({ gopSeconds: 2 });
  await page.getByText("All health checks are healthy.").waitFor({ timeout: 20_000 });
  await page.getByText("Nothing is wrong.").waitFor();
  await expect.poll(() => page.locator("figure canvas").count()).toBe(3);

  await page.getByRole("tab", { name: "Events" }).click();
  const line = (text: string) => page.locator("details", { hasText: text });
  await line("Solved: The keyframe interval is").waitFor();
  await line("The stream started.").click();
  await page.getByText('"type": "stream_state"').waitFor();

  await page.getByRole("button", { name: "Pause" }).click();
  await broadcast.publisher.stop();
  await page.getByText(/[1-9]\d* new events? waits?/).waitFor();
  expect(await line("The stream stopped.").count()).toBe(0);
  await page.getByRole("button", { name: "Resume" }).click();
  await line("The stream stopped.").waitFor();
  await page.getByText("Idle, last seen").waitFor();
  expect(problems).toEqual([]);
  await page.close();
});
