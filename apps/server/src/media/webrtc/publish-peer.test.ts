import { readOffer, withCandidates } from "@weir/formats/sdp";
import nodeDataChannel from "node-datachannel";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { findUdpPort } from "./udp-port.ts";
import { type Peer, WebrtcProcess } from "./webrtc-process.ts";

const { PeerConnection, Video } = nodeDataChannel;
/** The library's offers fail now and then, when the other side is faster than its own description. */
const TRIES = 5;

/** A publisher that is connected, the states of its connection, and its peer in the server. */
async function publish(
  server: WebrtcProcess,
  port: number,
  tries = TRIES,
): Promise<{ readonly states: readonly string[]; readonly peer: Peer }> {
  const settings = { iceServers: [], bindAddress: "127.0.0.1", disableAutoNegotiation: true };
  const connection = new PeerConnection("publisher", settings);
  onTestFinished(() => connection.close());
  const description = new Video("0", "SendOnly");
  description.addH264Codec(96, "profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1");
  connection.addTrack(description);
  const states: string[] = [];
  const settled = Promise.withResolvers<boolean>();
  connection.onStateChange((state) => {
    states.push(state);
    if (state !== "connecting") settled.resolve(state === "connected");
  });
  const gathered = Promise.withResolvers<void>();
  connection.onGatheringStateChange((state) => state === "complete" && gathered.resolve());
  connection.setLocalDescription("offer");
  await gathered.promise;
  const offer = connection.localDescription()?.sdp ?? "";
  const peer = server.publish(offer, readOffer(offer), {
    answered: (sdp) => {
      try {
        connection.setRemoteDescription(withCandidates(sdp, ["127.0.0.1"], port), "answer");
      } catch {
        settled.resolve(false);
      }
    },
    ...{ connected: () => {}, closed: () => {}, frame: () => {}, report: () => {} },
  });
  if ((await settled.promise) || tries <= 1) return { states, peer };
  peer.close();
  return publish(server, port, tries - 1);
}

test("a publisher that the server closes sees its connection closed within a second", async () => {
  const port = await findUdpPort("127.0.0.1", 0);
  const server = new WebrtcProcess({ clock: systemClock, log: silentLog, port, bindAddress: "127.0.0.1" });
  const { states, peer } = await publish(server, port);
  const began = performance.now();
  peer.close();
  await expect.poll(() => states.at(-1), { interval: 10 }).toMatch(/closed|disconnected/);
  console.log(states, performance.now() - began);
  await server.close();
});
