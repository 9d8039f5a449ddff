import type { Server, Socket } from "node:net";
import type { Clock } from "../clock.ts";
import { clientOf } from "../limits/client.ts";
import { Places } from "../limits/places.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** Share of all connections that one client cannot use, so that others still get in. */
const SHARE_PER_CLIENT = 0.75;
/** Above this share of all connections, a connection may idle only for a short time. */
const PRESSURE = 0.75;
const SHORT_IDLE_MS = 5_000;
const LOOK_MS = 2_000;

/** The parts of a server that the limits need. */
type ConnectionSource = Pick<Server, "on" | "maxConnections">;

export interface ConnectionLimitsSettings {
  /** All listeners: their connections are counted together. */
  readonly servers: readonly ConnectionSource[];
  readonly clock: Clock;
  /** Proxies carry the connections of many clients, so only the total limit applies to them. */
  readonly proxies: TrustedProxies;
  readonly inAll: number;
  readonly perClient: number;
}

export interface ConnectionLimits {
  readonly open: number;
  /** Connections closed at once because their client had too many. */
  readonly refused: number;
  close(): void;
}

/** Limits the connections of a server, per client and in total. Costs nothing per request. */
export function limitConnections(settings: ConnectionLimitsSettings): ConnectionLimits {
  const { servers, clock, proxies, inAll, perClient } = settings;
  const places = new Places({ inAll, perHolder: Math.min(perClient, Math.floor(inAll * SHARE_PER_CLIENT)) });
  const ofClients = new Set<Socket>();
  let open = 0;
  let refused = 0;
  const accept = (socket: Socket): void => {
    open++;
    socket.once("close", () => open--);
    const peer = socket.remoteAddress ?? "";
    if (proxies.has(peer)) return;
    const client = clientOf(peer);
    if (!places.take(client)) {
      refused++;
      return void socket.destroy();
    }
    ofClients.add(socket);
    socket.once("close", () => {
      places.giveBack(client);
      ofClients.delete(socket);
    });
  };
  for (const server of servers) {
    server.maxConnections = inAll;
    server.on("drop", () => refused++);
    server.on("connection", accept);
  }
  const timer = clock.every(LOOK_MS, () => {
    if (open < inAll * PRESSURE) return;
    // Node gives a socket a timeout while it idles between two requests, and removes it for the next one.
    for (const socket of ofClients) if ((socket.timeout ?? 0) > SHORT_IDLE_MS) socket.setTimeout(SHORT_IDLE_MS);
  });
  return {
    get open() {
      return open;
    },
    get refused() {
      return refused;
    },
    close: () => timer.cancel(),
  };
}
