import { isRtcp, type RtpPacket, readRtcp, readRtpPacket, type SenderReport } from "@weir/formats/rtp";
import type { Track } from "node-datachannel";
import { expect, test } from "vitest";
import { RtpSender } from "./rtp-sender.ts";

/** A sender, and what it has sent. */
function open(kind: "video" | "audio") {
  const packets: RtpPacket[] = [];
  const reports: SenderReport[] = [];
  const sendMessageBinary = (bytes: Uint8Array): boolean => {
    const copy = Uint8Array.from(bytes);
    const packet = readRtpPacket(copy);
    if (packet) packets.push(packet);
    if (isRtcp(copy)) for (const report of readRtcp(copy)) if (report.type === "sender-report") reports.push(report);
    return true;
  };
  const rate = kind === "video" ? 90_000 : 48_000;
  const track = { sendMessageBinary } as unknown as Track;
  return { sender: new RtpSender({ kind, track, ssrc: 7, payloadType: 96, rate }), packets, reports, rate };
}

const picture = Uint8Array.of(0, 0, 0, 3, 0x65, 1, 2);

test.each(["video", "audio"] as const)(
  "%s that is requested again and again within a round trip is sent again once",
  (kind) => {
    const { sender, packets } = open(kind);
    sender.send(0, picture);
    sender.send(3000, picture);
    const [first = expect.fail("nothing was sent"), second] = packets;
    for (const at of [1000, 1010, 1099]) sender.sendAgain([first.sequence, first.sequence], at, 100);
    expect(packets).toEqual([first, second, first]);
    expect(sender.sendAgain([first.sequence, (first.sequence + 9) & 0xffff], 1100, 100)).toBe(1);
  },
);

test("the sender reports of pictures and sound name the same time of the source, whenever the packets were sent", () => {
  const tracks = [open("video"), open("audio")];
  for (const [n, { sender, packets, reports, rate }] of tracks.entries()) {
    // The sound goes out half a second later than the picture of its time.
    sender.send(90_000 + n * 45_000, picture);
    sender.report(5_000, 900_000);
    const [packet = expect.fail("no packet"), report = expect.fail("no report")] = [packets[0], reports[0]];
    const ms = report.sentAtMs + (((packet.timestamp - report.timestamp) | 0) * 1000) / rate;
    expect(ms).toBeCloseTo(-4_000 + n * 500, 3);
  }
});

test("timestamps and sequence numbers wrap", () => {
  const { sender, packets } = open("video");
  for (let n = 0; n < 70_000; n++) sender.send(n * 90_000, picture);
  for (const [n, packet] of packets.entries()) {
    const before = packets[n - 1];
    if (!before) continue;
    if (((packet.sequence - before.sequence) & 0xffff) !== 1) expect.fail("a number is missing");
    if ((packet.timestamp - before.timestamp) >>> 0 !== 90_000) expect.fail("a timestamp jumps");
  }
  expect(packets).toHaveLength(70_000);
});
