/** Offers of real clients, shortened to the relevant lines. */

export const VIDEO_CODECS = [
  "a=rtpmap:96 VP8/90000",
  "a=rtpmap:103 H264/90000",
  "a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f",
  "a=rtpmap:107 H264/90000",
  "a=rtcp-fb:107 goog-remb",
  "a=rtcp-fb:107 nack",
  "a=rtcp-fb:107 nack pli",
  "a=fmtp:107 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
  "a=rtpmap:109 H264/90000",
  "a=fmtp:109 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f",
  "a=rtpmap:112 H264/90000",
  "a=fmtp:112 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=64001f",
];

export interface OfferOptions {
  readonly direction?: "sendonly" | "recvonly" | "sendrecv";
  readonly session?: readonly string[];
  readonly video?: readonly string[];
  readonly candidates?: readonly string[];
  readonly more?: readonly string[];
}

export function offer(options: OfferOptions = {}): string {
  const { direction = "recvonly", video = VIDEO_CODECS, candidates = [UDP], more = [] } = options;
  const session = options.session ?? [
    "a=group:BUNDLE 0 1",
    "a=ice-ufrag:abcd",
    "a=ice-pwd:abcdefghijklmnopqrstuvwx",
    `a=fingerprint:sha-256 ${Array(32).fill("AB").join(":")}`,
  ];
  return [
    ...["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", ...session],
    ...["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", `a=${direction}`, ...candidates],
    ...["a=rtpmap:111 opus/48000/2", "a=fmtp:111 minptime=10;useinbandfec=1"],
    ...["m=video 9 UDP/TLS/RTP/SAVPF 96 103 107 109 112", "a=mid:1", `a=${direction}`, ...video],
    ...more,
    "",
  ].join("\r\n");
}

export const UDP = "a=candidate:1 1 udp 2122260223 192.0.2.7 54321 typ host generation 0";
export const TCP = "a=candidate:1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active";
