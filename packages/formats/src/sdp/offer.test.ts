import { describe, expect, it } from "vitest";
import { FormatError } from "../bits/index.ts";
import { OfferRefused, readOffer, withCandidates, withoutCandidates } from "./index.ts";
import { offer, TCP, UDP, VIDEO_CODECS } from "./offers.fixture.ts";

describe("readOffer", () => {
  it("selects the sent profile for a viewer, else the one that all browsers decode", () => {
    expect(readOffer(offer(), "64")).toEqual({
      purpose: "watch",
      video: {
        ...{ mid: "1", payloadType: 112, supportsNack: false },
        parameters: "profile-level-id=64001f;packetization-mode=1;level-asymmetry-allowed=1",
      },
      audio: {
        ...{ mid: "0", payloadType: 111, supportsNack: false },
        parameters: "minptime=10;useinbandfec=1;stereo=1;sprop-stereo=1",
      },
      unused: [],
      candidateTypes: ["host"],
    });
    expect(readOffer(offer(), "7a").video).toMatchObject({ payloadType: 107, supportsNack: true });
  });

  it("selects the profile that all browsers encode for a publisher, and rejects other sections", () => {
    const second = ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:2", "a=sendonly", "a=rtpmap:96 VP8/90000"];
    const read = readOffer(offer({ direction: "sendonly", more: second }));
    expect(read).toMatchObject({ purpose: "publish", video: { payloadType: 107 } });
    expect(read.unused).toEqual([{ kind: "video", mid: "2", payloadType: 96 }]);
  });

  it("accepts an offer without candidates: the client's address is learned when it connects", () => {
    expect(readOffer(offer({ candidates: [] })).candidateTypes).toEqual([]);
  });

  it.each([
    ["TCP candidates only", offer({ candidates: [TCP] }), "unsupported", /TCP candidates only/],
    ["no H.264", offer({ video: VIDEO_CODECS.slice(0, 1) }), "unsupported", /no H\.264 with packetization-mode=1/],
    ["H.264 in packetization mode 0 alone", offer({ video: VIDEO_CODECS.slice(8, 10) }), "unsupported", /no H\.264/],
    ["no Opus", offer().replace("opus", "PCMU"), "unsupported", /no Opus/],
    [
      "simulcast",
      offer({ direction: "sendonly", more: ["a=simulcast:send h;l"] }),
      "unsupported",
      /turn simulcast off/,
    ],
    ["layers", offer({ direction: "sendonly", more: ["a=rid:h send", "a=rid:l send"] }), "unsupported", /simulcast/],
    [
      "a data channel",
      offer({ more: ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:2"] }),
      "unsupported",
      /no data channels/,
    ],
    ["no ICE", offer({ session: ["a=group:BUNDLE 0 1"] }), "malformed", /ICE credentials/],
    ["no fingerprint", offer().replace("a=fingerprint", "a=nothing"), "malformed", /fingerprint/],
    ["an ICE name of 1 character", offer().replace("ice-ufrag:abcd", "ice-ufrag:a"), "malformed", /4 to 256/],
    [
      "an ICE name of 10,000 characters",
      offer().replace("ice-ufrag:abcd", `ice-ufrag:${"a".repeat(10_000)}`),
      "malformed",
      /4 to 256/,
    ],
    ["an ICE name of other characters", offer().replace("ice-ufrag:abcd", "ice-ufrag:ab d"), "malformed", /4 to 256/],
    ["an ICE password of 21 characters", offer().replace(/(ice-pwd:.{21}).*/, "$1"), "malformed", /22 to 256/],
    ["an unknown setup role", offer({ more: ["a=setup:xyz"] }), "malformed", /actpass, active or passive/],
    ["an MD5 fingerprint", offer().replace("sha-256", "md5"), "unsupported", /SHA-256/],
    ["a fingerprint that is too short", offer().replace("AB:AB:", "AB:"), "malformed", /32 bytes/],
    ["a fingerprint of other characters", offer().replace("AB:AB", "AB:XY"), "malformed", /32 bytes/],
    ["no bundle", offer().replace("a=group:BUNDLE 0 1", "a=x:y"), "malformed", /a=group:BUNDLE/],
    ["no media", offer().split("m=")[0] ?? "", "malformed", /no media section/],
    ["no mids", offer().replace("a=mid:1", "a=mid:../x"), "malformed", /a=mid/],
  ] as const)("rejects an offer with %s", (_, text, kind, words) => {
    try {
      readOffer(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(OfferRefused);
      expect(error).toMatchObject({ kind, message: expect.stringMatching(words) });
    }
  });

  it.each([
    ["no SDP", '{"sdp":"v=0"}'],
    ["empty", ""],
    ["1,000 media sections", offer({ more: Array.from({ length: 1000 }, () => "m=video 9 UDP/TLS/RTP/SAVPF 96") })],
    ["10,000 payload types", offer().replace("SAVPF 111", `SAVPF ${"111 ".repeat(10_000)}`)],
  ])("that is %s cannot be read", (_, text) => {
    expect(() => readOffer(text)).toThrow(FormatError);
  });
});

it("an answer lists only our addresses, in its first media section", () => {
  const answer = withCandidates(
    offer({ candidates: [UDP, "a=end-of-candidates"] }),
    ["203.0.113.5", "2001:db8::5"],
    [8189, 8289],
  );
  const lines = answer.split("\r\n").filter((line) => /^(?:m=|a=candidate|a=end)/.test(line));
  expect(lines).toEqual([
    "m=audio 9 UDP/TLS/RTP/SAVPF 111",
    "a=candidate:1 1 UDP 2130706431 203.0.113.5 8189 typ host",
    "a=candidate:2 1 UDP 2130706175 2001:db8::5 8189 typ host",
    "a=candidate:3 1 UDP 2130705919 203.0.113.5 8289 typ host",
    "a=candidate:4 1 UDP 2130705663 2001:db8::5 8289 typ host",
    "a=end-of-candidates",
    "m=video 9 UDP/TLS/RTP/SAVPF 96 103 107 109 112",
  ]);
  expect(answer.endsWith("\r\n")).toBe(true);
});

it("the candidates of an offer are left out, and nothing else of it", () => {
  expect(withoutCandidates(offer({ candidates: [UDP, "a=end-of-candidates"] }))).toBe(offer({ candidates: [] }));
});
