import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { SourceLine } from "./source-line.ts";

it("a source of tiny pieces is not read on before they are, and they are few", async () => {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }) as unknown as Socket;
  const line: SourceLine<number> = new SourceLine(
    { url: "rtsp://camera.example/", isSecure: false },
    { clock: new ManualClock(), signal: new AbortController().signal, outbound: { dial: () => socket } },
    {
      read: (bytes) => {
        for (const byte of bytes) line.arrived(byte);
      },
      bytesOf: () => 1,
      damaged: "",
    },
  );
  let sent = 0;
  for (; !socket.isPaused() && sent < 20_000; sent += 1_000) {
    socket.push(Buffer.alloc(1_000, 7));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sent).toBeLessThan(6_000);
  for (let read = 0; read < sent; read++) expect(await line.next()).toBe(7);
  expect(socket.isPaused()).toBe(false);
  line.close();
});
