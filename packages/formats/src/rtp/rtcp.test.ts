import { describe, expect, it } from "vitest";
import {
  isRtcp,
  type ReceptionReport,
  readRtcp,
  readRtpPacket,
  roundTripMs,
  writeNack,
  writePli,
  writeReceiverReport,
  writeReferenceTime,
  writeRemb,
  writeSenderReport,
} from "./index.ts";
import { ntpMiddle } from "./rtcp.ts";
import { rtpBytes } from "./rtp-packets.fixture.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** One second after the Unix epoch, at RTP timestamp 90. */
const SENDER_REPORT = Buffer.from(
  "80c80006 00000007 83aa7e81 80000000 0000005a 00000001 00000002".replaceAll(" ", ""),
  "hex",
);

describe("RTCP", () => {
  it("reads the clock of a sender report", () => {
    expect(readRtcp(SENDER_REPORT)).toEqual([
      { type: "sender-report", ssrc: 7, sentAtMs: 1500, timestamp: 90, ntpMiddle: 0x7e81_8000 },
    ]);
  });

  it("reads losses and the round-trip time from a receiver report", () => {
    const sentAt = Date.UTC(2030, 0, 1);
    const block = { ssrc: 9, fractionLost: 0.25, lost: 3, highestSequence: 70_000, delaySeconds: 0.5 };
    const written = writeReceiverReport(1, [{ ...block, lastReport: ntpMiddle(sentAt) }]);
    const [report] = readRtcp(written) as ReceptionReport[];
    expect(report).toMatchObject({ type: "reception", ssrc: 9, fractionLost: 0.25, delaySeconds: 0.5 });
    expect(report && roundTripMs(report, sentAt + 540)).toBeCloseTo(40, 0);
    expect(report && roundTripMs({ ...report, lastReport: 0 }, sentAt)).toBeNull();
  });

  it("reads the round-trip time from a sender's reply to our reference time", () => {
    const sentAt = Date.UTC(2030, 0, 1);
    const asked = Buffer.from(writeReferenceTime(1, sentAt));
    expect(asked.toString("hex", 0, 12)).toBe("80cf0004000000010400" + "0002");
    // The middle of our NTP time and a delay of half a second, after a block of another type.
    const delays = Buffer.concat([
      Buffer.from("00000001", "hex"),
      asked.subarray(14, 18),
      Buffer.from("00008000", "hex"),
    ]);
    const answer = Buffer.concat([Buffer.from("80cf00070000000a2a00000100000000" + "05000003", "hex"), delays]);
    const [report] = readRtcp(answer);
    expect(report).toMatchObject({ type: "reference", delaySeconds: 0.5 });
    expect(report?.type === "reference" && roundTripMs(report, sentAt + 570)).toBeCloseTo(70, 0);
    answer.writeUInt16BE(0, 10);
    expect(readRtcp(answer.subarray(0, answer.length - 1))).toEqual([]);
  });

  it("writes a sender report with its source description", () => {
    const sending = { ssrc: 7, cname: "weir", unixMs: 1500, timestamp: 90, packets: 1, bytes: 2 };
    const written = Buffer.from(writeSenderReport(sending));
    expect(written.subarray(0, SENDER_REPORT.length)).toEqual(SENDER_REPORT);
    // One chunk with a CNAME of four characters, and two zeros.
    expect(hex(written.subarray(SENDER_REPORT.length))).toBe("81ca00030000000701047765" + "69720000");
    expect(readRtcp(written)).toEqual(readRtcp(SENDER_REPORT));
  });

  it("reads the packets that a NACK names across a wrap of the sequence number", () => {
    expect(readRtcp(writeNack(1, 2, [65_534, 65_535, 0, 14]))).toEqual([
      { type: "nack", ssrc: 2, sequences: [65_534, 65_535, 0, 14] },
    ]);
  });

  it("writes PLI, NACK and REMB", () => {
    expect(hex(writePli(1, 2))).toBe("81ce00020000000100000002");
    // 5 with 6 and 21 in its mask, then 22 by itself, across a sequence number wrap.
    expect(hex(writeNack(1, 2, [5, 6, 21, 22]))).toBe("81cd000400000001000000020005800100160000");
    expect(hex(writeNack(1, 2, [65_535, 0]))).toBe("81cd00030000000100000002ffff0001");
    // 250,000 times 2 to the 3rd.
    expect(hex(writeRemb(1, [2], 2_000_000))).toBe("8fce0005000000010000000052454d42010fd09000000002");
    expect(readRtcp(writeNack(1, 2, [5, 6, 21, 22]))).toEqual([{ type: "nack", ssrc: 2, sequences: [5, 6, 21, 22] }]);
    expect(readRtcp(writePli(1, 2))).toEqual([{ type: "keyframe-request" }]);
    expect(readRtcp(writeRemb(1, [2], 2_000_000))).toEqual([{ type: "bandwidth", bitsPerSecond: 2_000_000 }]);
  });

  it("accepts arbitrary bytes, and distinguishes RTCP from RTP", () => {
    let seed = 7;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647);
    for (let round = 0; round < 5000; round++) {
      const bytes = Uint8Array.from({ length: random() % 60 }, () => random() & 0xff);
      bytes[0] = 0x80 | ((bytes[0] ?? 0) & 0x3f);
      readRtcp(bytes);
      const packet = readRtpPacket(bytes);
      if (packet) expect(packet.payload.length).toBeLessThanOrEqual(bytes.length);
    }
    expect(isRtcp(SENDER_REPORT)).toBe(true);
    expect(readRtpPacket(SENDER_REPORT)).toBeNull();
    expect(readRtpPacket(rtpBytes([1, 2], { sequence: 5, timestamp: 6, marker: true }))).toEqual({
      ...{ marker: true, payloadType: 96, sequence: 5, timestamp: 6, ssrc: 0x1234 },
      payload: Uint8Array.of(1, 2),
    });
  });
});
