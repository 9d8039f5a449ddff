/**
 * The least that Node can do to forward a broadcast: what comes from the one sender goes as it is to everybody who connects to the other
 * port, once every 100 ms. Tells its two ports over the channel, ends with its parent.
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

const BATCH_MS = 100;

export interface RelayPorts {
  readonly in: number;
  readonly out: number;
}

const readers = new Set<Socket>();
let pending: Buffer[] = [];

setInterval(() => {
  if (pending.length === 0) return;
  const bytes = Buffer.concat(pending.splice(0));
  for (const reader of readers) reader.write(bytes);
}, BATCH_MS);

function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

const ports: RelayPorts = {
  in: await listen((socket) =>
    socket.on("data", (bytes) => {
      if (readers.size > 0) pending.push(bytes);
      else pending = [];
    }),
  ),
  out: await listen((socket) => {
    readers.add(socket);
    socket.on("close", () => readers.delete(socket));
    socket.resume();
  }),
};
process.once("disconnect", () => process.exit(0));
process.send?.(ports);
