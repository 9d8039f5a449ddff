import { randomUUID } from "node:crypto";
import { WeirClient } from "@weir/client";
import type { NewStream, Stream } from "@weir/contract";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { clientIn, signedInPage } from "./support/dashboard-page.ts";
import { startPublisher } from "./support/publisher.ts";
import { StrangeCamera } from "./support/strange-camera.ts";

// In a project of its own, so that the lists have nothing of other files.
const arena = shareArena();
const CREATOR = "ann@example.com";
let page: Page;
let client: WeirClient;

beforeAll(async () => {
  page = await signedInPage(arena);
  page.setDefaultTimeout(20_000);
  const { id } = await clientIn(page, arena.weir).projects.create({ name: `Project ${randomUUID()}` });
  await page.addInitScript(`localStorage.getItem("weir.project") ?? localStorage.setItem("weir.project", "${id}")`);
  client = clientIn(page, arena.weir, id);
  await create("Neighbour");
});

const create = (name: string, options: Omit<NewStream, "name"> = {}): Promise<Stream> =>
  client.streams.create({ name, profiles: [], ...options });
const open = (path: string) => page.goto(`${arena.weir.url}${path}`);
const button = (name: string) => page.getByRole("button", { name, exact: true });
const inDialog = (name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const untilClosed = () => page.getByRole("dialog").waitFor({ state: "hidden" });

test("a stream gets the renditions that its form shows, and others by its editor", async () => {
  const name = `Ladder ${randomUUID()}`;
  await open("/streams");
  await button("Create stream").click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name", { exact: true }).first().fill(name);
  await form.getByLabel("Renditions").selectOption("small");
  await form.getByLabel("Renditions").selectOption("custom");
  const rung = (number: number) => form.getByRole("group", { name: `Rendition ${number}` });
  await rung(1).getByLabel("Name").fill("tiny");
  await rung(1).getByLabel("kbit/s").fill("0");
  await form.getByText("At least 0.4").waitFor();
  expect(await inDialog("Create stream").isDisabled()).toBe(true);
  await rung(1).getByLabel("kbit/s").fill("250.5");
  await inDialog("Add rendition").click();
  for (const [field, value] of Object.entries({ Name: "tiny", Width: "1280", Height: "720", "kbit/s": "2000" }))
    await rung(2).getByLabel(field).fill(value);
  await form.getByText("Name already used").waitFor();
  await rung(2).getByLabel("Name").fill("720p");
  await rung(2).getByLabel("Frames/s").fill("30000/1001");
  await inDialog("Create stream").click();
  await page.getByRole("heading", { name }).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const profiles = async () => (await client.streams.get(id)).profiles;
  expect(await profiles()).toMatchObject([
    { name: "tiny", width: 640, height: 360, bitrate: 250_500, fps: 0 },
    { name: "720p", width: 1280, height: 720, bitrate: 2_000_000, fps: 30_000, fpsDen: 1001 },
  ]);

  await button("Edit renditions").click();
  expect(await rung(2).getByLabel("Frames/s").inputValue()).toBe("30000/1001");
  await inDialog("Remove tiny").click();
  await inDialog("Save").click();
  await untilClosed();
  expect((await profiles()).map(({ name }) => name)).toEqual(["720p"]);
});

test("a source is tried, with what is wrong with it; then its stream is pulled, plays on its page, and is stopped", async () => {
  await using camera = await StrangeCamera.start({});
  const { id } = await create(`Pulled ${randomUUID()}`);
  await open(`/streams/${id}`);
  await page.getByRole("heading", { name: "Pull from a source" }).click();
  await button("Set source").click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Address").fill("http://127.0.0.1:6/nobody.ts");
  await inDialog("Try this source").click();
  await form.getByText("The source cannot be reached.").waitFor();
  await form.getByLabel("Address").fill(camera.url);
  await inDialog("Try this source").click();
  await form.getByText("video 320 × 180").waitFor();
  await inDialog("Save and start").click();
  await untilClosed();
  await page.getByText("Pulling", { exact: true }).waitFor();
  await page.locator("video").waitFor();
  await button("Stop pull").click();
  await page.getByText("The stream was terminated. Start the pull again to go on.").waitFor();
  expect((await client.streams.get(id)).status.state).not.toBe("live");
});

test("a target is saved with its key, renamed without it, disabled and removed", async () => {
  const profiles = [{ name: "360p", width: 640, height: 360, bitrate: 700_000, fps: 0 }];
  const { id } = await create(`Targets ${randomUUID()}`, { profiles });
  await open(`/streams/${id}?tab=multistream`);
  await button("Add target").click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Platform", { exact: true }).selectOption("custom");
  await form.getByLabel("Server", { exact: true }).fill("rtmp://127.0.0.1:1");
  expect(await inDialog("Add target").isDisabled()).toBe(true);
  await form.getByLabel("Server", { exact: true }).fill("rtmp://127.0.0.1:1/app/");
  await form.getByLabel("Stream key", { exact: true }).fill("the-key");
  await form.getByLabel("Name", { exact: true }).fill("Platform A");
  await form.getByLabel("Send", { exact: true }).selectOption("360p");
  await form.getByRole("switch", { name: "Slate while the encoder is away" }).check({ force: true });
  await inDialog("Add target").click();
  await form.getByText("port 1 is not allowed").waitFor();
  await form.getByLabel("Server", { exact: true }).fill("rtmp://127.0.0.1:1935/app/");
  const saved = page.waitForRequest((request) => request.method() === "POST" && request.url().includes("multistream"));
  await inDialog("Add target").click();
  // No answer of the server has the address.
  expect((await saved).postDataJSON()).toMatchObject({ spec: { url: "rtmp://127.0.0.1:1935/app/the-key" } });
  await page.getByText("360p, slate").waitFor();
  const targets = async () => (await client.streams.get(id)).multistream.targets;
  const [target] = await targets();
  expect(target).toMatchObject({ profile: "360p", slate: true });
  expect(target?.videoOnly ?? false).toBe(false);
  const registered = () => client.targets.get(target?.id ?? "");

  await button("Edit Platform A").click();
  await form.getByLabel("Name", { exact: true }).fill("Platform B");
  const patched = page.waitForRequest((request) => request.method() === "PATCH");
  await inDialog("Save").click();
  expect((await patched).postDataJSON()).toEqual({ name: "Platform B" });
  await button("Disable Platform B").click();
  await button("Enable Platform B").waitFor();
  expect(await registered()).toMatchObject({ name: "Platform B", disabled: true });

  await button("Remove").click();
  await inDialog("Remove target").click();
  await page.getByText("No targets").waitFor();
  expect(await targets()).toEqual([]);
});

test("the ticked streams are suspended, freed and deleted, and no other", async () => {
  const word = randomUUID();
  const streams: Stream[] = [];
  for (const number of [1, 2, 3]) streams.push(await create(`${word} ${number}`));
  const suspended = () => Promise.all(streams.map(async ({ id }) => (await client.streams.get(id)).suspended));
  await open(`/streams?name=${word}`);
  const bar = page.getByRole("toolbar", { name: "Selected streams" });
  const act = async (action: string, title: string): Promise<void> => {
    await bar.getByRole("button", { name: action }).click();
    await page.getByRole("dialog", { name: title }).getByRole("button", { name: action }).click();
    await bar.waitFor({ state: "hidden" });
  };
  await page.getByLabel(`Select ${word} 1`).check();
  await page.getByLabel(`Select ${word} 2`).check();
  await bar.getByText("2 selected").waitFor();
  await act("Suspend", "Suspend 2 streams?");
  await expect.poll(suspended).toEqual([true, true, false]);

  await page.getByLabel(`Select ${word} 2`).check();
  await act("Lift suspension", `Lift the suspension of ${word} 2?`);
  await expect.poll(suspended).toEqual([true, false, false]);

  await page.getByLabel("Select all on this page").check();
  await page.getByLabel(`Select ${word} 3`).uncheck();
  await act("Delete", "Delete 2 streams?");
  const left = async () => (await client.streams.list()).items.map(({ name }) => name);
  await expect.poll(left).toEqual(expect.arrayContaining([`${word} 3`, "Neighbour"]));
  expect(await left()).not.toEqual(expect.arrayContaining([expect.stringMatching(`${word} [12]`)]));
  await row(`${word} 3`).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
});

test("a recording counts as stored, by its creator, until it is deleted from the list of sessions", async () => {
  const stream = await create(`Recorded ${randomUUID()}`, {
    record: true,
    creatorId: { type: "unverified", value: CREATOR },
  });
  const url = arena.weir.publishUrl(stream.streamKey ?? "");
  expect(await (await startPublisher({ url, seconds: 3, width: 320, height: 180 })).ended).toBe(null);
  const session = async () => (await client.sessions.ofStream(stream.id)).items[0];
  await expect.poll(async () => (await session())?.recordingStatus, { timeout: 40_000 }).toBe("ready");

  await open("/usage");
  const stored = page.locator("dl > div", { hasText: "Stored" }).locator("strong");
  await expect.poll(() => stored.innerText()).toMatch(/^\d+ s$/);
  const before = await stored.innerText();
  await row(CREATOR).getByText(before).waitFor();
  const hourly = page.waitForResponse((response) => response.url().includes("timeStep=hour"));
  await page.getByLabel("Range").selectOption("day");
  expect((await hourly).ok()).toBe(true);
  await page.getByText("Watched per hour").waitFor();

  // As by a server that has many pictures to make, also to the owner.
  const busy = { status: 503, body: "" };
  for (const _ of ["plain", "owner"])
    await page.route("**/thumbnail.jpg*", (asked) => asked.fulfill(busy), { times: 1 });
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  const picture = row(stream.name).locator("img");
  const isShown = () =>
    picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0).catch(() => false);
  await expect.poll(isShown).toBe(true);
  await row(stream.name).getByRole("checkbox").check();
  await button("Delete recording").click();
  await page
    .getByRole("dialog", { name: "Delete 1 recording?" })
    .getByRole("button", { name: "Delete recording" })
    .click();
  await page.getByText("Deleted 1 recording").waitFor();
  await row(stream.name).getByText("Deleted", { exact: true }).waitFor();
  expect(await row(stream.name).getByRole("checkbox").isDisabled()).toBe(true);
  expect((await session())?.recordingStatus).not.toBe("ready");
  await open("/usage");
  await stored.getByText("0 min").waitFor();
});

test("an asset is renamed, deleted on its page and restored from the list", async () => {
  const name = `Asset ${randomUUID()}`;
  const { asset } = await client.assets.requestUpload({ name });
  await open(`/assets/${asset.id}`);
  await button("Rename").click();
  await page.getByRole("dialog").getByLabel("Name").fill(`${name}, second`);
  await inDialog("Save").click();
  await page.getByRole("heading", { name: `${name}, second` }).waitFor();
  await button("Delete asset").click();
  await page
    .getByRole("dialog", { name: `Delete ${name}, second?` })
    .getByRole("button", { name: "Delete" })
    .click();
  await page.getByText(`Deleted ${name}, second`).waitFor();
  await expect(client.assets.get(asset.id)).rejects.toMatchObject({ status: 404 });

  await page.getByRole("link", { name: "Show deleted assets" }).click();
  await row(name).getByRole("button", { name: "Restore" }).click();
  await page.getByText(`Restored ${name}, second`).waitFor();
  expect((await client.assets.get(asset.id)).name).toBe(`${name}, second`);
});

test("a person signs in with the password that was set last, until they are removed", async () => {
  const name = `${randomUUID()}@example.com`;
  const logIn = async (password: string) => {
    const outcome = new WeirClient({ baseUrl: arena.weir.url, maxRetries: 0 }).dashboard.logIn({ name, password });
    return outcome.then(
      () => "in",
      ({ status }) => status,
    );
  };
  await open("/settings");
  await button("Add person").click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name or email address").fill(name);
  await form.getByLabel("Password", { exact: true }).fill("too short");
  expect(await inDialog("Add person").isDisabled()).toBe(true);
  await form.getByLabel("Password", { exact: true }).fill("the first password");
  await inDialog("Add person").click();
  const line = page.getByRole("listitem").filter({ hasText: name });
  await line.getByText("Last sign-in: Never").waitFor();

  await line.getByRole("button", { name: "Change password" }).click();
  await form.getByLabel("New password").fill("the second password");
  await inDialog("Save").click();
  await untilClosed();
  expect([await logIn("the first password"), await logIn("the second password")]).toEqual([401, "in"]);

  await line.getByRole("button", { name: "Remove" }).click();
  await page
    .getByRole("dialog", { name: `Remove ${name}?` })
    .getByRole("button", { name: "Remove" })
    .click();
  await line.waitFor({ state: "hidden" });
  expect(await logIn("the second password")).toBe(401);
});

// The last: what it opens is another project.
test("a new project is renamed and opened, and has nothing of the one before", async () => {
  const name = `Next ${randomUUID()}`;
  await open("/settings");
  await button("Create project").click();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await inDialog("Create project").click();
  const line = page.getByRole("listitem").filter({ hasText: name });
  await line.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(`${name}, second`);
  await inDialog("Save").click();
  await line.getByText(`${name}, second`).waitFor();
  await button(`Switch to ${name}, second`).click();
  await page.getByRole("heading", { name: "Create your first stream" }).waitFor();
  expect(await page.getByLabel("Project").locator("option:checked").innerText()).toBe(`${name}, second`);
});
