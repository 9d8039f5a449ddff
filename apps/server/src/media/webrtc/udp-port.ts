import { createSocket } from "node:dgram";
import { once } from "node:events";

/** Returns a free UDP port: `wanted`, or any for 0. Rejects with Node's error if it is in use. */
export async function findUdpPort(host: string, wanted: number): Promise<number> {
  const socket = createSocket({ type: host.includes(":") ? "udp6" : "udp4" });
  try {
    socket.bind(wanted, host);
    await once(socket, "listening");
    return socket.address().port;
  } finally {
    socket.close();
  }
}
