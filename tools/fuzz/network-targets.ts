import {
  AacDepacketizer,
  H264Depacketizer,
  HevcDepacketizer,
  isRtcp,
  ReorderBuffer,
  readRtcp,
  readRtpPacket,
  writeNack,
  writePli,
  writeReceiverReport,
  writeReferenceTime,
  writeRemb,
  writeSenderReport,
} from "@weir/formats/rtp";
import { RtspReader, readChallenges } from "@weir/formats/rtsp";
import { OfferRefused, parseSessionDescription, readOffer, withCandidates, withoutCandidates } from "@weir/formats/sdp";
import { readStreamId } from "../../apps/server/src/media/ingest/srt/stream-id.ts";
import { iceCheck } from "../../apps/server/src/media/webrtc/stun-check-rig.ts";
import { IceCheck } from "../../apps/server/src/media/webrtc/stun-message.ts";
import { bindingAnswer } from "../../apps/server/src/media/webrtc/stun-responder.ts";
import { rtpBytes } from "../../packages/formats/src/rtp/rtp-packets.fixture.ts";
import { offer } from "../../packages/formats/src/sdp/offers.fixture.ts";
import { type FuzzTarget, holds, latin1, utf8 } from "./fuzz-target.ts";
import { readInPieces } from "./read-in-pieces.ts";

const joined = (...pieces: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces));
/** Packets of one connection, each behind its length, as the mutations like it. */
const framed = (...packets: readonly Uint8Array[]): Uint8Array =>
  joined(...packets.map((packet) => joined(Uint8Array.of(packet.length >> 8, packet.length), packet)));

function* packetsIn(input: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at + 2 < input.length; ) {
    const end = at + 2 + (((input[at] ?? 0) << 8) | (input[at + 1] ?? 0));
    yield input.slice(at + 2, end);
    at = end;
  }
}

const MEDIA = {
  h264: [
    [0x65, 1, 2, 3],
    [0x7c, 0x85, 1, 2],
    [0x7c, 0x45, 3, 4],
    [0x78, 0, 2, 0x67, 1, 0, 1, 0x68],
  ],
  hevc: [
    [0x26, 1, 2, 3],
    [0x62, 1, 0x93, 1],
    [0x62, 1, 0x53, 2],
    [0x60, 1, 0, 2, 0x40, 1, 0, 2, 0x42, 1],
  ],
  aac: [
    [0, 32, 0, 0x10, 0, 0x18, 1, 2, 3, 4, 5],
    [0, 16, 0, 0x20, 6, 7, 8],
    [0, 16, 0, 0x20, 9],
  ],
};
const streamOf = (payloads: readonly (readonly number[])[]): Uint8Array =>
  framed(
    ...payloads.map((payload, n) =>
      rtpBytes(payload, { sequence: n + (n === 3 ? 1 : 0), timestamp: 3_000 * n, marker: n % 2 === 1 }),
    ),
  );

const AAC_HBR = { sizeLength: 13, indexLength: 3, indexDeltaLength: 3 };

const SDP_WORDS = [
  ...["a=", "m=video 9 UDP/TLS/RTP/SAVPF 96", "\r\n", "a=rtpmap:", "a=fmtp:", "profile-level-id="],
  ...["a=candidate:", "a=fingerprint:sha-256 ", "a=simulcast:", "a=group:BUNDLE 0"],
];

const PASSWORD = "abcdefghijklmnopqrstuvwx";

export const NETWORK_TARGETS: readonly FuzzTarget[] = [
  {
    name: "rtp",
    seeds: Object.values(MEDIA).map(streamOf),
    read(input) {
      let given = 0;
      const count = ({ data }: { readonly data: Uint8Array }): void => {
        given += data.length;
      };
      const readers = [new H264Depacketizer(count), new HevcDepacketizer(count), new AacDepacketizer(AAC_HBR, count)];
      let nowMs = 0;
      const order = new ReorderBuffer((packet, isAfterGap) => {
        for (const reader of readers) reader.push(packet, isAfterGap);
      });
      for (const bytes of packetsIn(input)) {
        const packet = isRtcp(bytes) ? null : readRtpPacket(bytes);
        if (packet) order.push(packet, nowMs);
        order.wanted(nowMs);
        nowMs += 90;
        order.tick(nowMs);
      }
      holds(given <= 16 * input.length, "no more comes out than went in");
    },
  },
  {
    name: "rtcp",
    seeds: [
      joined(
        writeReceiverReport(1, [
          { ssrc: 2, fractionLost: 0.5, lost: 4, highestSequence: 5, lastReport: 7, delaySeconds: 1 },
        ]),
        writeNack(1, 2, [3, 4, 5, 40]),
      ),
      writeSenderReport({ ssrc: 1, cname: "weir", unixMs: 1e12, timestamp: 90_000, packets: 3, bytes: 1_000 }),
      joined(writePli(1, 2), writeRemb(1, [2], 2_000_000), writeReferenceTime(1, 1e12)),
    ],
    read(input) {
      const lost = readRtcp(input).reduce(
        (sum, report) => sum + (report.type === "nack" ? report.sequences.length : 0),
        0,
      );
      holds(lost <= 17 * (input.length / 4), "a word names seventeen packets at most");
    },
  },
  {
    name: "sdp",
    seeds: [utf8(offer()), utf8(cameraSdp())],
    words: SDP_WORDS,
    read(input) {
      const text = new TextDecoder().decode(input);
      withoutCandidates(withCandidates(text, ["192.0.2.1", "2001:db8::1"], [8891]));
      parseSessionDescription(text);
    },
  },
  {
    name: "webrtc-offer",
    seeds: [utf8(offer()), utf8(offer({ direction: "sendonly" }))],
    words: SDP_WORDS,
    refusals: [OfferRefused],
    read: (input) => void readOffer(new TextDecoder().decode(input)),
  },
  {
    name: "stun",
    seeds: [Uint8Array.of(0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)],
    read(input) {
      for (const address of ["192.0.2.1", "2001:db8::1"])
        holds((bindingAnswer(input, address, 1234)?.length ?? 0) <= 44, "an answer is short");
    },
  },
  {
    name: "ice-check",
    seeds: [0n, 7n].map((tiebreaker) => iceCheck("ours", PASSWORD, tiebreaker)),
    read(input) {
      const check = IceCheck.read(input);
      if (!check) return;
      const [ufrag, wasSigned] = [check.askedUfrag, check.isSignedWith(PASSWORD)];
      check.avoidZeroTiebreaker();
      check.setMappedAddress("192.0.2.1", 1234);
      const bytes = check.bytes(PASSWORD);
      holds(bytes.byteLength === input.byteLength, "a check keeps its length");
      const again = IceCheck.read(bytes);
      holds(again !== null && again.askedUfrag === ufrag, "a check stays one for the same client");
      holds(!wasSigned || again?.isSignedWith(PASSWORD) === true, "a signed check stays signed");
    },
  },
  {
    name: "srt-stream-id",
    seeds: [
      "key",
      "publish:live/key:user:password",
      "#!::r=live/key,m=publish",
      "#!:{r=key}",
      "srt://host/live/key?token=1",
    ].map(utf8),
    words: ["#!::", "publish:", "read:", "m=request", "mode:", "r=", ",", "..", "\0", "%2f"],
    read(input) {
      const text = new TextDecoder().decode(input);
      const request = readStreamId(text);
      holds(request.kind !== "publish" || request.streamKey.length <= text.length, "a key is in what came");
    },
  },
  {
    name: "rtsp",
    seeds: [
      utf8(
        'RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\nWWW-Authenticate: Digest realm="a", nonce="b", algorithm=SHA-256\r\n\r\n',
      ),
      joined(
        utf8("RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 4\r\n\r\nbody$\0\0\x04abcd"),
        utf8("OPTIONS * RTSP/1.0\r\nCSeq: 3\r\n\r\n"),
      ),
    ],
    words: ["RTSP/1.0 ", "\r\n", "Content-Length: ", "CSeq: ", "$", "Transport: RTP/AVP/TCP;interleaved=0-1"],
    read(input) {
      readInPieces(input, () => {
        const read: string[] = [];
        const reader = new RtspReader({
          response: ({ status, headers, body }) => void read.push(`${status} ${headers.size} ${body.length}`),
          request: ({ method, url, body }) => void read.push(`${method} ${url} ${body.length}`),
          packet: (channel, bytes) => void read.push(`${channel} ${bytes.length}`),
        });
        return { read, push: (bytes) => reader.push(bytes) };
      });
    },
  },
  {
    name: "challenges",
    seeds: [
      utf8('Digest realm="a", qop="auth,auth-int", nonce="\\"b", Basic realm=c'),
      utf8("Bearer, Digest algorithm=MD5"),
    ],
    words: ["Digest ", 'realm="', "nonce=", '"', "\\", ",", "="],
    read: (input) => void readChallenges([latin1(input)]),
  },
];

function cameraSdp(): string {
  return [
    ...["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=camera", "c=IN IP4 0.0.0.0", "t=0 0", "a=control:*"],
    ...[
      "m=video 0 RTP/AVP 96",
      "a=rtpmap:96 H264/90000",
      "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0LAFtoC,aM4PyA==",
      "a=control:trackID=0",
    ],
    ...[
      "m=audio 0 RTP/AVP 97",
      "a=rtpmap:97 MPEG4-GENERIC/48000/2",
      "a=fmtp:97 mode=AAC-hbr;config=1190;sizeLength=13;indexLength=3;indexDeltaLength=3",
      "",
    ],
  ].join("\r\n");
}
