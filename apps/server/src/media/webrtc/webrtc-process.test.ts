import { expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { browserOffer } from "../testing/fake-peers.ts";
import { findUdpPort } from "./udp-port.ts";
import { type PeerHandler, WebrtcProcess } from "./webrtc-process.ts";

const plan = { video: null, audio: null, unused: [] };

function handler() {
  const told: string[] = [];
  const taken: PeerHandler = {
    answered: () => told.push("answered"),
    connected: () => told.push("connected"),
    closed: (reason) => told.push(`closed: ${reason}`),
    frame: () => {},
    report: () => {},
  };
  return { told, taken };
}

test("an offer that cannot be answered is told; a child that dies closes its peers and is replaced", async () => {
  const port = await findUdpPort("127.0.0.1", 0);
  const process_ = new WebrtcProcess({ clock: systemClock, log: silentLog, port, bindAddress: "127.0.0.1" });
  expect(process_.pid).toBe(0);
  const bad = handler();
  process_.publish("v=0 and nothing else", plan, bad.taken);
  await expect.poll(() => bad.told).toEqual([expect.stringContaining("closed: the offer could not be answered")]);
  const good = handler();
  const source = process_.openSource();
  const audio = { mid: "0", payloadType: 111, parameters: "minptime=10", takesNack: false };
  const video = { mid: "1", payloadType: 107, parameters: "packetization-mode=1", takesNack: true };
  const offer = browserOffer("recvonly").replace("sha-256 00", `sha-256 ${new Array(32).fill("AB").join(":")}`);
  source.watch(offer, { video, audio, unused: [] }, good.taken);
  await expect.poll(() => good.told).toEqual(["answered"]);
  const killed = process_.pid;
  process.kill(killed, "SIGKILL");
  await expect.poll(() => good.told).toEqual(["answered", "closed: the WebRTC process died"]);
  await expect.poll(() => process_.pid).toBeGreaterThan(0);
  expect(process_.pid).not.toBe(killed);
  expect(process_.peerCount).toBe(0);
  await process_.close();
});
