import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { verifyWebhook } from "./webhook-signature.ts";

const now = 1_700_000_000_000;
const sharedSecret = "shared";
const body = JSON.stringify({ id: "1", timestamp: now, event: "stream.started" });
const sign = (text: string, t = now) => `t=${t},v1=${createHmac("sha256", sharedSecret).update(text).digest("hex")}`;
const signed = { body, signature: sign(body), sharedSecret, now };

it("gives the call of a body that is signed right", async () => {
  expect(await verifyWebhook(signed)).toEqual(JSON.parse(body));
  expect(await verifyWebhook({ ...signed, now: now + 299_000 })).not.toBeNull();
});

it.each([
  ["another secret", { sharedSecret: "other" }],
  ["an empty secret", { sharedSecret: "" }],
  ["a body that was changed", { body: body.replace("started", "idle") }],
  ["no signature", { signature: undefined }],
  ["a signature of another form", { signature: "sha256=00" }],
  ["a header whose time is not the body's", { signature: sign(body, now + 1) }],
  ["a call of six minutes ago", { now: now + 360_000 }],
])("is null for %s", async (_what, change) => expect(await verifyWebhook({ ...signed, ...change })).toBeNull());
