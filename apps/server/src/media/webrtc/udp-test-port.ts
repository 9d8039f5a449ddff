import { Listener } from "../../platform/listener.ts";

/** A UDP port of loopback that was free a moment ago. */
export async function findUdpPort(): Promise<number> {
  const listener = new Listener("WebRTC UDP", "127.0.0.1", 0);
  (await listener.openUdp()).close();
  return listener.port;
}
