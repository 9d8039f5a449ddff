import { expect, test } from "vitest";
import { startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { FaultyStore } from "./campaign/faulty-store.ts";
import { Loopback } from "./support/loopback.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

/** The whole way out may take 9.5 s; on a busy machine also what waits for nobody takes a second or two. */
const MOST_MS = 7_000;

async function readAll(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

test("a store, a webhook and a reader of events that keep a server waiting keep it waiting at the same time", {
  timeout: 60_000,
}, async () => {
  await using opened = new AsyncDisposableStack();
  const s3 = await startS3TestServer();
  opened.defer(() => s3.close());
  const store = opened.use(await FaultyStore.open(s3.settings.endpoint));
  const receiver = opened.use(await startWebhookReceiver());
  let isCalled = false;
  receiver.answer = () => {
    isCalled = true;
  };
  const env = { ...s3.env, WEIR_S3_ENDPOINT: store.endpoint, WEIR_ALLOW_PRIVATE_URLS: "1" };
  const weir = opened.use(await Loopback.start(env));
  await weir.client.webhooks.create({ name: "silent", url: receiver.url, events: ["stream.started"] });
  const stream = await weir.createStream({ record: true });
  using _publisher = await weir.publish(stream);
  const leaving = new AbortController();
  const reading = readAll(weir.client.streams.events(stream.id, { signal: leaving.signal })).catch(() => {});
  await weir.untilState(stream, "live", 60_000);
  await weir.until("a webhook that waits", async () => isCalled, 20_000);
  await weir.pass(6_000);
  store.fault = "silent";
  const tookMs = await weir.close();
  leaving.abort();
  await reading;
  expect(tookMs).toBeLessThan(MOST_MS);
});
