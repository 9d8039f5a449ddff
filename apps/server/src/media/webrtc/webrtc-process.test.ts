import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { browserOffer } from "../testing/fake-peers.ts";
import { findUdpPort } from "./udp-test-port.ts";
import { type PeerHandler, WebrtcProcess } from "./webrtc-process.ts";
import { REJECTED_OFFER } from "./webrtc-protocol.ts";

const plan = { video: null, audio: null, unused: [] };

const OFFER = browserOffer("recvonly");
const WATCH = {
  video: { mid: "1", payloadType: 107, parameters: "packetization-mode=1", supportsNack: true },
  audio: { mid: "0", payloadType: 111, parameters: "minptime=10", supportsNack: false },
  unused: [],
};

function handler() {
  const told: string[] = [];
  let answer = "";
  const taken: PeerHandler = {
    answered: (sdp) => {
      answer = sdp;
      told.push("answered");
    },
    connected: () => told.push("connected"),
    closed: (reason) => told.push(`closed: ${reason}`),
    frame: () => {},
    report: () => {},
  };
  return { told, taken, answer: () => answer };
}

/** A STUN Binding request of a connectivity check with a wrong MESSAGE-INTEGRITY. */
function forgedCheck(username: string): Buffer {
  const name = Buffer.from(username.padEnd(Math.ceil(username.length / 4) * 4, "\0"));
  const attributes = Buffer.concat([attribute(0x0006, username.length, name), attribute(0x0008, 20, randomBytes(20))]);
  const header = Buffer.from("000100002112a442", "hex");
  header.writeUInt16BE(attributes.length, 2);
  return Buffer.concat([header, randomBytes(12), attributes]);
}

function attribute(type: number, length: number, value: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(length, 2);
  return Buffer.concat([header, value]);
}

/** The start of a DTLS handshake. */
const CLIENT_HELLO = Buffer.concat([Buffer.from("16feff0000000000000000", "hex"), Buffer.alloc(200, 1)]);
CLIENT_HELLO.writeUInt16BE(CLIENT_HELLO.length - 13, 11);

test("an offer that cannot be answered is reported; a crashed child closes its peers and is replaced", async () => {
  const port = await findUdpPort();
  const process_ = new WebrtcProcess({ clock: systemClock, log: silentLog, port, bindAddress: "127.0.0.1" });
  expect(process_.pid).toBe(0);
  const bad = handler();
  process_.publish("v=0 and nothing else", plan, bad.taken);
  await expect.poll(() => bad.told).toEqual([expect.stringMatching(`^closed: ${REJECTED_OFFER}.{5,}`)]);
  const good = handler();
  process_.openSource().watch(OFFER, WATCH, good.taken);
  await expect.poll(() => good.told).toEqual(["answered"]);
  const killed = process_.pid;
  process.kill(killed, "SIGKILL");
  await expect.poll(() => good.told).toEqual(["answered", "closed: the WebRTC process died"]);
  await expect.poll(() => process_.pid).toBeGreaterThan(0);
  expect(process_.pid).not.toBe(killed);
  expect(process_.peerCount).toBe(0);
  await process_.close();
});

test("a child that hangs is killed after ten seconds, and replaced", async () => {
  const port = await findUdpPort();
  const clock = new ManualClock();
  const process_ = new WebrtcProcess({ clock, log: silentLog, port, bindAddress: "127.0.0.1" });
  const waiting = handler();
  process_.openSource().watch(OFFER, WATCH, waiting.taken);
  await expect.poll(() => waiting.told).toEqual(["answered"]);
  const hung = process_.pid;
  process.kill(hung, "SIGSTOP");
  clock.advance(11_000);
  await expect.poll(() => waiting.told).toEqual(["answered", "closed: the WebRTC process died"]);
  clock.advance(250);
  expect(process_.pid).not.toBe(hung);
  expect(process_.pid).toBeGreaterThan(0);
  await process_.close();
});

test("floods of forged checks, replayed DTLS and noise get no response, and other clients can connect", async () => {
  const port = await findUdpPort();
  const process_ = new WebrtcProcess({ clock: systemClock, log: silentLog, port, bindAddress: "127.0.0.1" });
  const waiting = handler();
  const source = process_.openSource();
  source.watch(OFFER, WATCH, waiting.taken);
  await expect.poll(() => waiting.told).toEqual(["answered"]);
  const { pid } = process_;
  const [, ufrag = ""] = /a=ice-ufrag:(\S+)/.exec(waiting.answer()) ?? [];
  const attacker = createSocket("udp4");
  let answered = 0;
  attacker.on("message", (message) => {
    answered += message.length;
  });
  const kinds = [
    () => forgedCheck(`${ufrag}:abcd`),
    () => forgedCheck("nobody:abcd"),
    () => CLIENT_HELLO,
    () => Buffer.concat([Buffer.of(0x80, 0x60), randomBytes(1000)]),
    () => randomBytes(1),
    () => randomBytes(60_000),
  ];
  for (let packets = 0; packets < 6000; packets++) {
    const packet = kinds[packets % (packets < 600 ? 6 : 5)]?.() ?? Buffer.alloc(0);
    await new Promise((done) => attacker.send(packet, port, "127.0.0.1", done));
  }
  const another = handler();
  source.watch(OFFER, WATCH, another.taken);
  await expect.poll(() => another.told).toEqual(["answered"]);
  expect([waiting.told, process_.pid]).toEqual([["answered"], pid]);
  expect(answered).toBe(0);
  attacker.close();
  await process_.close();
});
