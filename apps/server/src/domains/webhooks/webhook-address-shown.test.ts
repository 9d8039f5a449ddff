import type { Access, CreatedApiToken, Webhook, WebhookLog } from "@weir/contract";
import { afterAll, expect, it } from "vitest";
import { startWebhookReceiver } from "../../../test/support/webhook-receiver.ts";
import { startTestDomains } from "../domain-test-kit.ts";

const kit = await startTestDomains();
const receiver = await startWebhookReceiver();
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
const cookie = { cookie: String(signedIn.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
const url = `${receiver.url}/services/PATHSECRET?token=QUERYSECRET`;
const made = await kit.call("POST", "/api/webhook", { name: "hook", url, events: ["stream.started"] });
const webhook = made.json<Webhook>();
const log = (await kit.call("POST", `/api/webhook/${webhook.id}/test`)).json<WebhookLog>();

const readings = [
  "/api/webhook",
  "/api/webhook/subscribed/stream.started",
  `/api/webhook/${webhook.id}`,
  `/api/webhook/${webhook.id}/log`,
  `/api/webhook/${webhook.id}/log/${log.id}`,
];

async function keyWith(access: Access): Promise<Record<string, string>> {
  const answer = await kit.call("POST", "/api/api-token", { access }, cookie);
  return { authorization: `Bearer ${answer.json<CreatedApiToken>().key}` };
}

it.each<[string, Access]>([
  ["may only read webhooks", { rules: [{ resources: ["webhook", "webhook/*"], methods: ["get"] }] }],
  ["may only read", { rules: [{ resources: ["*"], methods: ["get"] }] }],
  [
    "may change other things",
    {
      rules: [
        { resources: ["*"], methods: ["get"] },
        { resources: ["stream"], methods: ["*"] },
      ],
    },
  ],
  ["is for web pages", { cors: { allowedOrigins: ["https://app.test"], fullAccess: true } }],
])("a key that %s sees the origin of a webhook's address alone, in its log too", async (_, access) => {
  const headers = await keyWith(access);
  let read = 0;
  for (const path of readings) {
    const answer = await kit.call("GET", path, undefined, headers);
    if (answer.statusCode !== 200) continue;
    read++;
    expect([path, answer.body.includes(`${new URL(url).origin}/***`)]).toEqual([path, true]);
    expect(answer.body).not.toMatch(/PATHSECRET|QUERYSECRET/);
  }
  expect(read).toBeGreaterThan(1);
});

it.each<[string, () => Promise<Record<string, string>>]>([
  ["an unrestricted key", async () => ({ authorization: `Bearer ${kit.apiKey}` })],
  ["the dashboard", async () => cookie],
  [
    "a key that may change webhooks",
    () => keyWith({ rules: [{ resources: ["webhook", "webhook/*"], methods: ["*"] }] }),
  ],
])("%s sees the whole address", async (_, credential) => {
  const headers = await credential();
  for (const path of readings)
    expect((await kit.call("GET", path, undefined, headers)).body).toContain("/services/PATHSECRET?token=QUERYSECRET");
});
