import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { clientIn, navigation } from "./support/dashboard-page.ts";

const arena = openArena({ env: { WEIR_ALLOW_PRIVATE_URLS: "1" } });
const received: { signature: string; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  received.push({ signature: String(request.headers["service-signature"]), body: await text(request) });
  response.end("thanks");
});
let page: Page;
/** The name of the person that the first test adds: another one in each try. */
let person = "";
const problems: string[] = [];

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  page = await arena.browser.context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("pageerror", (error) => problems.push(error.message));
});

// Each try begins signed in, on a fresh page, whatever an earlier one left behind.
beforeEach(async () => {
  received.length = 0;
  await clientIn(page, arena.weir).dashboard.signIn(arena.weir.apiKey);
  await page.goto(arena.weir.url);
  await navigation(page).waitFor();
});

afterEach(() => {
  expect(problems.splice(0)).toEqual([]);
});

afterAll(() => {
  receiver.close();
});

const click = (name: string) => page.getByRole("button", { name, exact: true }).last().click();
const openPage = (name: string) => page.getByRole("link", { name, exact: true }).click();

test("a user added under Settings signs in with a name and a password", async () => {
  person = `anna-${randomUUID()}@example.com`;
  await openPage("Settings");
  await click("Add person");
  await page.getByLabel("Name or email address").fill(person.replace("anna", "Anna"));
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse");
  await click("Add person");
  await page.getByText(person).waitFor();
  await click("Sign out");
  await page.getByRole("tab", { name: "Name and password" }).click();
  await page.getByLabel("Name or email address").fill(person);
  await page.getByRole("textbox", { name: "Password" }).fill("wrong horse");
  await click("Sign in");
  await page.getByText("Incorrect name or password").waitFor();
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse");
  await click("Sign in");
  await page.getByText(`As ${person}`).waitFor();
  // For one user only: a second button would be an error.
  await page.getByRole("button", { name: "Change password" }).waitFor();
  await page.getByRole("link", { name: "How to back up and restore" }).waitFor();
  await page.getByText(/ free of .*B/).waitFor();
});

test("a browser in which a person signed in with a name and a password asks for them first", async () => {
  await click("Sign out");
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse");
  await page.getByLabel("Name or email address").fill(person);
  await click("Sign in");
  await openPage("Settings");
  await page.getByText(`As ${person}`).waitFor();
});

test("an address of the time when Keys was called Access leads to Keys, with its tab", async () => {
  await page.goto(`${arena.weir.url}/access?tab=signing`);
  await page.getByText("No signing keys yet").waitFor();
  expect(new URL(page.url()).pathname).toBe("/keys");
});

test("a token signed by the example code is accepted, and the token check explains when it no longer is", async () => {
  const stream = await arena.weir.client.streams.create({ name: "Gated" });
  const keyName = `Shop ${randomUUID()}`;
  await openPage("Keys");
  await page.getByRole("tab", { name: "Signing keys" }).click();
  await click("Create signing key");
  await page.getByLabel("Name", { exact: true }).fill(keyName);
  await click("Create signing key");
  await click("Show private key");
  const privateKey = await page.getByRole("dialog").locator("code").first().innerText();
  await click("I have saved the key");
  expect(await page.content()).not.toContain(privateKey);

  await page.goto(`${arena.weir.url}/streams/${stream.id}?tab=access`);
  await page.getByLabel("Playback policy").selectOption("jwt");
  await click("Save policy");
  await page.getByText("Policy saved").waitFor();
  const code = await page.locator("pre").filter({ hasText: "createPrivateKey" }).innerText();
  const env = { ...process.env, SIGNING_KEY: privateKey };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { env });
  await page.getByLabel("Token", { exact: true }).fill(stdout);
  await click("Test");
  await page.getByText("Allowed.").waitFor();

  // The browser signs a test token by itself.
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
  await page.getByLabel("Token", { exact: true }).fill("");
  await click("Create test token");
  await page.getByLabel("Private key").fill("not a key");
  await page.getByRole("dialog").getByRole("button", { name: "Create test token" }).click();
  await page.getByText("This is not the private key").waitFor();
  await page.getByLabel("Private key").fill(privateKey);
  await page.getByRole("dialog").getByRole("button", { name: "Create test token" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await click("Test");
  await page.getByText("Allowed.").waitFor();
  expect(sent.some((request) => request.includes("access-control") || request.includes("jwt"))).toBe(true);
  expect(sent.filter((request) => request.includes(privateKey.slice(100, 150)))).toEqual([]);

  const key = (await arena.weir.client.signingKeys.list()).items.find(({ name }) => name === keyName);
  await arena.weir.client.signingKeys.patch(key?.id ?? "", { disabled: true });
  await expect
    .poll(
      async () => {
        await click("Test");
        return page.getByText("Refused.").isVisible();
      },
      { timeout: 15_000 },
    )
    .toBe(true);
  await page.getByText(/disabled/).waitFor();
});

test("a webhook is created and tested, and its delivery is shown with request and response", async () => {
  const name = `Receiver ${randomUUID()}`;
  await openPage("Webhooks");
  await click("Create webhook");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("URL").fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/weir`);
  await page.getByRole("button", { name: "Choose the recommended events" }).click();
  expect(await page.getByRole("checkbox", { name: "A broadcast has started" }).isChecked()).toBe(true);
  const submit = await page.getByRole("dialog").getByRole("button", { name: "Create webhook" }).boundingBox();
  expect((submit?.y ?? 0) + (submit?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
  await page.getByRole("checkbox", { name: "Viewers" }).check();
  await click("Generate");
  await click("Create webhook");
  await page.getByRole("heading", { name }).waitFor();
  await click("Send test");
  await page.getByText("Test delivered (200 OK).").waitFor();
  await page.getByRole("button", { expanded: false, name: /stream\.started/ }).click();
  await page.getByText("thanks").waitFor();
  await page.getByText('"event": "stream.started"').waitFor();
  expect(received.map(({ signature }) => signature)).toEqual([expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/)]);
});

test("a stream's policy selects the webhook, which is then called about a viewer, with the context", async () => {
  const stream = await arena.weir.client.streams.create({ name: "Asked" });
  const [webhook] = (await arena.weir.client.webhooks.list()).items;
  await page.goto(`${arena.weir.url}/streams/${stream.id}?tab=access`);
  await page.getByLabel("Playback policy").selectOption("webhook");
  await page.getByLabel("Webhook", { exact: true }).selectOption(webhook?.id ?? "");
  await page.getByLabel("Context").fill('{"show": 7}');
  await click("Save policy");
  await page.getByText("Policy saved").waitFor();
  await page.getByLabel("Access key", { exact: true }).fill("ticket-1");
  await click("Test");
  await page.getByText("Allowed.").waitFor();
  expect(JSON.parse(received.at(-1)?.body ?? "{}")).toMatchObject({ accessKey: "ticket-1", context: { show: 7 } });
});
