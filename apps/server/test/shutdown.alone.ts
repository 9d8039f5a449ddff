import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const arena = openArena();

test("SIGTERM while live: not ready, publisher disconnected, exit 0 within 10 s; the recording exists after the restart", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true, profiles: SMALL_LADDER } });
  await broadcast.untilSegments(2);
  const seen: number[] = [];
  const signalledAt = Date.now();
  const stopped = arena.weir.stop();
  const watching = (async () => {
    for (;;) {
      const status = await fetch(`${arena.weir.url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 0) return;
      seen.push(status);
    }
  })();
  expect(await stopped).toBe(0);
  expect(Date.now() - signalledAt).toBeLessThan(10_000);
  await watching;
  expect(seen.at(-1)).toBe(503);
  expect(await broadcast.publisher.ended).not.toBe(null);

  await arena.weir.restart();
  expect((await broadcast.now()).isActive).toBe(false);
  const session = await broadcast.recorded();
  expect(session.sourceSegmentsDuration).toBeGreaterThan(4);
});
