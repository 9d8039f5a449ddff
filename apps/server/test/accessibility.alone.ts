import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { signIn, violationsOf } from "./support/dashboard-page.ts";

const arena = openArena();
let page: Page;
/** Each page, with a text that it shows once it has loaded. */
let pages: readonly (readonly [address: string, says: string])[];

beforeAll(async () => {
  const stream = await arena.weir.client.streams.create({
    name: "Stage",
    multistream: {
      targets: [{ profile: "source", spec: { name: "Elsewhere", url: "rtmp://live.example.com/app/key" } }],
    },
  });
  const stage = `/streams/${stream.id}`;
  const { asset } = await arena.weir.client.assets.requestUpload({ name: "Talk" });
  pages = [
    ["/", "No stream is live"],
    ["/streams", "Stage"],
    ["/streams/wall", "No stream is live"],
    [stage, "Waiting for video"],
    [`${stage}?tab=health`, "Transcoding"],
    [`${stage}?tab=viewers`, "No views in this period"],
    [`${stage}?tab=multistream`, "Elsewhere"],
    [`${stage}?tab=sessions`, "has never been live"],
    [`${stage}?tab=access`, "Playback access"],
    [`${stage}?tab=events`, "No events yet"],
    ["/assets", "Talk"],
    [`/assets/${asset.id}`, "Playback ID"],
    ["/sessions", "No sessions yet"],
    ["/keys", "preset key"],
    ["/keys?tab=signing", "No signing keys yet"],
    ["/webhooks", "No webhooks yet"],
    ["/usage", "No views in this period"],
    ["/settings", "RTMP server"],
  ];
  page = await arena.browser.context.newPage();
  await page.goto(arena.weir.url);
  await signIn(page, arena.weir);
});

/** What a page is looked at as, one after the other, without loading it again. */
const LOOKS = [
  ["light", 1440],
  ["dark", 390],
] as const;

/** How much wider than the window a page is where it is read from the right, as a browser that translates it shows it, and from the left. */
const OVERFLOWS = `["rtl", "ltr"].map((dir) => {
  document.documentElement.dir = dir;
  return document.documentElement.scrollWidth - innerWidth;
})`;

test("every page is accessible by screen reader and keyboard, in light on a screen and in dark on a phone", async () => {
  for (const [address, says] of pages) {
    await page.goto(new URL(address, arena.weir.url).href);
    for (const [colorScheme, width] of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.getByRole("main").getByText(says).first().waitFor({ timeout: 30_000 });
      // Charts are drawn anew once they know their width.
      const overflows = async () => [address, width, await page.evaluate<number[]>(OVERFLOWS)];
      await expect.poll(overflows).toEqual([address, width, [0, 0]]);
      expect([address, width, await violationsOf(page)]).toEqual([address, width, []]);
    }
  }
});

test("the dialogs of a multistream target are accessible", async () => {
  const [address] = pages.find(([path]) => path.endsWith("tab=multistream")) ?? [];
  await page.goto(new URL(address ?? "", arena.weir.url).href);
  for (const [button, dialog] of [
    ["Add target", "Add target"],
    ["Edit Elsewhere", "Edit target"],
    ["Remove", "Remove Elsewhere?"],
  ] as const) {
    await page.getByRole("button", { name: button, exact: true }).first().click();
    await page.getByRole("dialog", { name: dialog }).waitFor();
    expect([dialog, await violationsOf(page)]).toEqual([dialog, []]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: dialog }).waitFor({ state: "hidden" });
  }
});

test("a form shows its request as code, without the secret that was typed, and the code does what the form would", async () => {
  const [address = ""] = pages.find(([path]) => path.endsWith("tab=multistream")) ?? [];
  const url = new URL(address, arena.weir.url);
  await page.goto(url.href);
  await page.getByRole("button", { name: "Add target", exact: true }).first().click();
  const dialog = page.getByRole("dialog", { name: "Add target" });
  await dialog.getByLabel("Name").fill("By curl");
  await dialog.getByRole("textbox", { name: "Stream key" }).fill("typed-secret");
  await dialog.getByRole("button", { name: "Show as code" }).click();
  const code = dialog.locator("pre");
  const shown: string[] = [];
  for (const [language, says] of [
    ["curl", "curl -X POST"],
    ["TypeScript", "await weir.streams.addTarget("],
    ["Python", "requests.post("],
  ] as const) {
    await dialog.getByRole("tab", { name: language }).click();
    await code.getByText(says).waitFor();
    expect([language, await violationsOf(page)]).toEqual([language, []]);
    shown.push((await code.textContent()) ?? "");
  }
  expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  for (const text of shown) expect([text.includes("WEIR_KEY"), text.includes("typed-secret")]).toEqual([true, false]);
  const env = { PATH: process.env.PATH, WEIR_KEY: arena.weir.apiKey };
  await promisify(execFile)("sh", ["-c", shown[0] ?? ""], { env });
  const { multistream } = await arena.weir.client.streams.get(url.pathname.split("/").at(-1) ?? "");
  const [, added] = multistream.targets;
  expect((await arena.weir.client.targets.get(added?.id ?? "")).name).toBe("By curl");
});
