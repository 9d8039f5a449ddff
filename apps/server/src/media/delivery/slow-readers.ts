import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../platform/clock.ts";

const CHECK_MS = 10_000;
/** Bytes that a connection with something left to send must take between two checks: 13 kbit/s, less than any audio. */
const LEAST_BYTES = 16 * 1024;

/** Close connections that hardly take what they asked for, so that slow readers cannot hold memory. Costs nothing per request. */
export function closeSlowReaders(server: Server, clock: Clock): Timer {
  /** Bytes taken at the last check by those who were behind then; null for those who were not. */
  const connections = new Map<Socket, number | null>();
  server.on("connection", (socket: Socket) => {
    connections.set(socket, null);
    socket.once("close", () => connections.delete(socket));
  });
  return clock.every(CHECK_MS, () => {
    for (const [socket, before] of connections) {
      const isBehind = socket.writableLength > 0;
      const taken = socket.bytesWritten - socket.writableLength;
      if (isBehind && before !== null && taken - before < LEAST_BYTES) socket.destroy();
      else connections.set(socket, isBehind ? taken : null);
    }
  });
}
