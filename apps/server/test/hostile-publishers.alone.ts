import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { RtmpTestClient } from "../src/media/ingest/rtmp/rtmp-test-client.ts";
import { openArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";

const arena = openArena();
const MEGABYTE = 1024 * 1024;

/** Runs `attack` during a watched broadcast: playback continues, nobody reconnects, and the server's memory stays flat. */
async function bystanderIsUnharmed(attack: (broadcast: Broadcast) => Promise<void>): Promise<void> {
  await using broadcast = await startBroadcast(arena.weir);
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  // After the first segments, so that stalls are not caused by joining.
  const before = await player.untilMoving(90);
  const memory = residentBytes(arena.weir.pid);
  await attack(broadcast);
  const after = await player.untilMoving(90);
  expect(after.fatal).toBe(null);
  // Allow one for the machine itself, which attackers, server, publisher and browser share.
  expect(after.stalls).toBeLessThanOrEqual(before.stalls + 1);
  expect((await broadcast.now()).status.state).toBe("live");
  expect(await broadcast.sessions()).toHaveLength(1);
  expect(residentBytes(arena.weir.pid) - memory).toBeLessThan(60 * MEGABYTE);
  await player.close();
}

test("garbage on the RTMP port affects no other client", async () => {
  await bystanderIsUnharmed(async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => RtmpTestClient.open(arena.weir.rtmpPort)));
    for (const client of clients) client.send(randomBytes(MEGABYTE / 4));
    await Promise.all(clients.map(({ closed }) => closed));
  });
});

test("headers announcing 16 MB, from many connections, cost no memory and affect no other client", async () => {
  await bystanderIsUnharmed(async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, () => RtmpTestClient.open(arena.weir.rtmpPort)));
    for (const client of clients) {
      client.greet();
      client.connect();
      await client.called("_result");
      // Chunk type 0 on stream 4: timestamp 0, 16,777,215 bytes of video; and the first of them.
      client.send(new Uint8Array([4, 0, 0, 0, 0xff, 0xff, 0xff, 9, 1, 0, 0, 0, 0x17]));
    }
    for (const { socket } of clients) socket.destroy();
  });
});

test("a peer that never reads responses is disconnected, and affects no other client", async () => {
  await bystanderIsUnharmed(async () => {
    const client = await RtmpTestClient.open(arena.weir.rtmpPort);
    client.greet();
    client.connect();
    await client.called("_result");
    client.socket.pause();
    let isGone = false;
    client.closed.then(() => {
      isGone = true;
    });
    const flood = async (): Promise<boolean> => {
      for (let i = 0; i < 1000 && !isGone; i++) client.command(0, "createStream", 4, null);
      if (!isGone) await new Promise<void>((resolve) => client.socket.write("", () => resolve()));
      return isGone;
    };
    await Promise.race([client.closed, expect.poll(flood, { timeout: 30_000 }).toBe(true)]);
    client.socket.destroy();
  });
});

function residentBytes(pid: number): number {
  // Memory is only checked on Linux.
  if (process.platform !== "linux") return 0;
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
