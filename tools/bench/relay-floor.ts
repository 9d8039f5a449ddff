/**
 * Baseline for forwarding: a bare Node process that relays each sender's bytes to its readers every 100 ms. Readers are assigned to the senders in
 * turn. Reports its two ports over the IPC channel, exits with its parent.
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

const BATCH_MS = 100;

export interface RelayPorts {
  readonly in: number;
  readonly out: number;
}

interface Relay {
  readonly readers: Set<Socket>;
  pending: Buffer[];
}

const relays: Relay[] = [];
let readersSoFar = 0;

setInterval(() => {
  for (const relay of relays) {
    if (relay.pending.length === 0) continue;
    const bytes = Buffer.concat(relay.pending.splice(0));
    for (const reader of relay.readers) reader.write(bytes);
  }
}, BATCH_MS);

function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

const ports: RelayPorts = {
  in: await listen((socket) => {
    const relay: Relay = { readers: new Set(), pending: [] };
    relays.push(relay);
    socket.on("data", (bytes) => {
      if (relay.readers.size > 0) relay.pending.push(bytes);
    });
  }),
  out: await listen((socket) => {
    const relay = relays[readersSoFar++ % relays.length];
    relay?.readers.add(socket);
    socket.on("close", () => relay?.readers.delete(socket));
    socket.resume();
  }),
};
process.once("disconnect", () => process.exit(0));
process.send?.(ports);
