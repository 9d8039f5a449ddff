/** One client with more connections than the server may have open files: other clients are served, and recordings continue. */
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { WeirProcess } from "./support/weir-process.ts";

const OPEN_FILES = 1_024;
const ATTACKER = "127.0.0.66";

/** Resolves when the connection was accepted and its request answered, or when it was closed. */
function occupy(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress: ATTACKER });
    const settled = () => resolve(socket);
    socket
      .once("data", settled)
      .once("close", settled)
      .on("error", () => {});
    socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  });
}

test("a client with as many idle connections as allowed open files disturbs neither HTTP nor recordings", async () => {
  await using weir = await WeirProcess.start({
    through: ["sh", "-c", `ulimit -n ${OPEN_FILES}; exec "$0" "$@"`],
  });
  await using broadcast = await startBroadcast(weir, { seconds: 15, stream: { record: true } });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  while (sockets.length < OPEN_FILES - 34) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => occupy(weir.httpPort)))));
  }
  const held = sockets.filter(({ closed }) => !closed).length;
  expect(held).toBeGreaterThan(OPEN_FILES / 3);
  expect(held).toBeLessThan(OPEN_FILES / 2);

  const { state } = (await broadcast.now()).status;
  expect([state, (await fetch(broadcast.hlsUrl)).status]).toEqual(["live", 200]);
  expect(await broadcast.publisher.ended).toBe(null);
  expect((await broadcast.recorded()).sourceSegmentsDuration).toBeGreaterThan(14);
  expect(weir.log).not.toContain("EMFILE");
});
