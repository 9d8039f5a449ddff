import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A UDP port that is free now: the one that is wanted, or any for 0. Rejects with Node's error where it is taken. */
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
