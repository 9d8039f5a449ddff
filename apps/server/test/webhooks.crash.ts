import { verifyWebhook } from "@weir/client";
import type { StreamEvent } from "@weir/contract";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { readLog } from "./support/followers.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const KILLS = 100;
const LATEST_KILL_MS = 2000;
const SECRET = "the secret of a crash test";
/** Back-off after a few failures, plus the claim left by a killed call. */
const CATCH_UP_MS = 90_000;

const arena = openArena({
  env: { WEIR_RECONNECT_WINDOW_MS: "1000", WEIR_ALLOW_PRIVATE_URLS: "1" },
});

const LONGEST_MS = 30 * 60_000;

test(`kill -9 of the server at ${KILLS} random moments: an unreliable receiver gets every event, in order`, {
  timeout: LONGEST_MS,
}, async () => {
  const { weir } = arena;
  await using receiver = await startWebhookReceiver();
  /** Ids of calls answered with 200, without duplicates. */
  const accepted = new Set<string>();
  let isMoody = true;
  receiver.answer = (response, { body }) => {
    const mood = isMoody ? Math.random() : 1;
    if (mood < 0.1) response.writeHead(500).end();
    else if (mood < 0.2) response.destroy();
    else if (mood > 0.9 && isMoody)
      return; // Hangs until the server is killed, or gives up after 30 s.
    else {
      accepted.add(body.id);
      response.end();
    }
  };
  await weir.client.webhooks.create({
    name: "crash test",
    url: receiver.url,
    sharedSecret: SECRET,
    events: ["stream.started", "stream.idle", "recording.started", "recording.waiting", "recording.ready"],
  });
  await using broadcast = await startBroadcast(weir, { stream: { profiles: [], record: true } });
  for (let kill = 1; kill <= KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LATEST_KILL_MS));
    await weir.kill();
    await broadcast.publisher.kill();
    await weir.restart();
    if (kill % 3 === 0) await broadcast.untilState("idle");
    await broadcast.publish();
  }
  await broadcast.untilState("live");
  await broadcast.publisher.stop();
  await broadcast.recorded();
  isMoody = false;

  const told = (await readLog(weir, broadcast.stream)).flatMap(named);
  await expect.poll(() => accepted.size, { timeout: CATCH_UP_MS }).toBeGreaterThanOrEqual(told.length);
  expect([...accepted]).toEqual(told.map(({ id }) => id));
  console.log(`${KILLS} kills: ${told.length} events, ${receiver.calls.length} calls`);
  expect(told.length).toBeGreaterThan(KILLS);
  for (const { text, headers, body } of receiver.calls) {
    const signature = String(headers["livepeer-signature"]);
    const signed = { body: text, signature, sharedSecret: SECRET, now: body.timestamp };
    expect(await verifyWebhook(signed)).toEqual(body);
  }
});

/** An event in a webhook's payload. */
function named(event: StreamEvent): { id: string; name: string }[] {
  if (event.type === "webhook_event") return [{ id: event.id, name: event.event }];
  if (event.type !== "stream_state") return [];
  return [{ id: event.id, name: event.state.active ? "stream.started" : "stream.idle" }];
}
