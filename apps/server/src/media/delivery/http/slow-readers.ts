import type { Server, Socket } from "node:net";
import type { Clock, Timer } from "../../../platform/clock.ts";

const CHECK_MS = 10_000;
/** Bytes that a connection with pending data must read between two checks: 13 kbit/s, less than any audio. */
const MIN_BYTES = 16 * 1024;
/** How long a connection may have pending data; beyond that, as long as its bytes take at 32 kbit/s. */
const MAX_BEHIND_MS = 60_000;
const MIN_BYTES_PER_MS = 4;

/** A connection that had pending data at each check since `sinceMs`. */
interface Behind {
  readonly sinceMs: number;
  readonly takenThen: number;
  readonly takenLast: number;
}

/**
 * Closes connections that hardly read their responses, so that slow readers cannot hold memory and files. This gives every response a deadline that
 * depends on its size, at no cost per request.
 */
export function closeSlowReaders(
  server: Pick<Server, "on">,
  clock: Clock,
  event: "connection" | "secureConnection" = "connection",
): Timer {
  const connections = new Map<Socket, Behind | null>();
  server.on(event, (socket: Socket) => {
    connections.set(socket, null);
    socket.once("close", () => connections.delete(socket));
  });
  return clock.every(CHECK_MS, () => {
    const now = clock.monotonic();
    for (const [socket, behind] of connections) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) connections.set(socket, null);
      else if (behind && isTooSlow(behind, taken, now)) socket.destroy();
      else {
        const { sinceMs, takenThen } = behind ?? { sinceMs: now, takenThen: taken };
        connections.set(socket, { sinceMs, takenThen, takenLast: taken });
      }
    }
  });
}

function isTooSlow({ sinceMs, takenThen, takenLast }: Behind, taken: number, now: number): boolean {
  const overdueMs = now - sinceMs - MAX_BEHIND_MS;
  return taken - takenLast < MIN_BYTES || taken - takenThen < overdueMs * MIN_BYTES_PER_MS;
}
