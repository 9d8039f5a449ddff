import {
  parseSessionDescription,
  type SdpMedia,
  type SdpPayload,
  type SessionDescription,
} from "./session-description.ts";

/** Whether the client wants to send or receive media. */
export type OfferPurpose = "publish" | "watch";

/** A media section that the answer accepts, with one codec. */
export interface ChosenMedia {
  readonly mid: string;
  readonly payloadType: number;
  /** The `a=fmtp` parameters of the answer; empty for none. */
  readonly parameters: string;
  readonly supportsNack: boolean;
}

export interface Offer {
  readonly purpose: OfferPurpose;
  readonly video: ChosenMedia | null;
  readonly audio: ChosenMedia | null;
  /** Sections that the answer rejects, in the offer's order. */
  readonly unused: readonly { readonly kind: "video" | "audio"; readonly mid: string; readonly payloadType: number }[];
  /** Types of the client's UDP candidates: `host`, `srflx`, `relay`. Empty if the offer lists none. */
  readonly candidateTypes: readonly string[];
}

/** An offer that the server cannot accept. The message is meant for the person who sent it. */
export class OfferRefused extends Error {
  readonly code = "offer-refused";
  /** `malformed`: the offer is invalid. `unsupported`: it is valid, but this server does not support it. */
  readonly kind: "malformed" | "unsupported";

  constructor(kind: "malformed" | "unsupported", message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * Reads an offer to publish or to watch, and selects codecs for the answer: H.264 (packetization mode 1) and Opus. `profile` is the `profile_idc` of
 * the video to be sent, in two hexadecimal digits, if known. Throws `OfferRefused`, and `FormatError` if the text is not an SDP.
 */
export function readOffer(text: string, profile = "42"): Offer {
  const session = parseSessionDescription(text);
  const { media, isBundled } = session;
  if (media.length === 0) throw malformed("The offer has no media section.");
  checkTransport(session);
  if (media.length > 1 && !isBundled) throw malformed("The offer's media must share one transport (a=group:BUNDLE).");
  if (media.some(({ mid }) => !/^[\w.-]{1,32}$/.test(mid)))
    throw malformed("Each media section needs an a=mid of 1 to 32 letters and digits.");
  if (media.some(({ kind }) => kind !== "audio" && kind !== "video"))
    throw new OfferRefused("unsupported", "This server takes audio and video only, and no data channels.");
  const candidates = media.flatMap((section) => section.candidates);
  if (candidates.length > 0 && candidates.every(({ transport }) => transport === "tcp"))
    throw new OfferRefused(
      "unsupported",
      "The offer has TCP candidates only, and WebRTC media goes over UDP here. Allow UDP, or watch by HLS.",
    );
  const purpose: OfferPurpose = media.some(({ direction }) => direction === "sendonly") ? "publish" : "watch";
  if (purpose === "publish" && media.some((section) => section.hasSimulcast))
    throw new OfferRefused("unsupported", "This server takes one rendition: turn simulcast off.");
  const wanted = media.filter(({ direction }) =>
    purpose === "publish" ? direction === "sendonly" || direction === "sendrecv" : direction !== "sendonly",
  );
  const of = (kind: string) => wanted.find((section) => section.kind === kind && section.direction !== "inactive");
  const video = of("video");
  const audio = of("audio");
  const chosenVideo = video ? chooseVideo(video, purpose, profile) : null;
  const chosenAudio = audio ? chooseAudio(audio) : null;
  if (!chosenVideo && !chosenAudio) throw malformed("The offer has no audio or video to send or receive.");
  return {
    purpose,
    video: chosenVideo,
    audio: chosenAudio,
    unused: media
      .filter(({ mid }) => mid !== chosenVideo?.mid && mid !== chosenAudio?.mid)
      .map(({ kind, mid, payloads }) => ({
        kind: kind === "video" ? "video" : "audio",
        mid,
        payloadType: payloads[0]?.type ?? 0,
      })),
    candidateTypes: [...new Set(candidates.filter(({ transport }) => transport === "udp").map(({ type }) => type))],
  };
}

const malformed = (message: string) => new OfferRefused("malformed", message);

/** RFC 8839 5.4. */
const ICE_UFRAG = /^[A-Za-z0-9+/]{4,256}$/;
const ICE_PWD = /^[A-Za-z0-9+/]{22,256}$/;
/** RFC 4145 4. An offer has `actpass`, but servers take what determines the roles. */
const SETUPS = ["actpass", "active", "passive"];
/** Bytes by hash function. RFC 8122 5 forbids MD2 and MD5. */
const FINGERPRINT_BYTES: Readonly<Record<string, number>> = {
  ...{ "sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48, "sha-512": 64 },
};

function checkTransport({ iceUfrags, icePwds, fingerprints, setups }: SessionDescription): void {
  if (iceUfrags.length === 0 || icePwds.length === 0)
    throw malformed("The offer has no ICE credentials (a=ice-ufrag and a=ice-pwd).");
  if (!iceUfrags.every((ufrag) => ICE_UFRAG.test(ufrag)))
    throw malformed("a=ice-ufrag must have 4 to 256 letters, digits, + or /.");
  if (!icePwds.every((pwd) => ICE_PWD.test(pwd)))
    throw malformed("a=ice-pwd must have 22 to 256 letters, digits, + or /.");
  if (!setups.every((setup) => SETUPS.includes(setup))) throw malformed("a=setup must be actpass, active or passive.");
  if (fingerprints.length === 0) throw malformed("The offer has no DTLS fingerprint (a=fingerprint).");
  for (const fingerprint of fingerprints) {
    const [name = "", hash = ""] = fingerprint.split(/\s+/);
    const bytes = FINGERPRINT_BYTES[name.toLowerCase()];
    if (bytes === undefined)
      throw new OfferRefused("unsupported", "The DTLS fingerprint must be a SHA-256 hash (a=fingerprint:sha-256).");
    if (!/^[0-9a-f]{2}(?::[0-9a-f]{2})*$/i.test(hash) || hash.length !== bytes * 3 - 1)
      throw malformed(
        `a=fingerprint:${name.toLowerCase()} must have ${bytes} bytes in hexadecimal digits, separated by colons.`,
      );
  }
}

function chooseVideo(section: SdpMedia, purpose: OfferPurpose, profile: string): ChosenMedia {
  const h264 = section.payloads.filter(
    ({ codec, parameters }) => codec === "h264" && parameters.get("packetization-mode") === "1",
  );
  if (h264.length === 0)
    throw new OfferRefused(
      "unsupported",
      "The offer has no H.264 with packetization-mode=1, which is the video that this server takes and sends over WebRTC.",
    );
  const profileOf = ({ parameters }: SdpPayload) => (parameters.get("profile-level-id") ?? "42e01f").toLowerCase();
  const constrained = h264.find((payload) => profileOf(payload).startsWith("42e0"));
  // A publisher gets Constrained Baseline, which all browsers encode. A viewer gets the profile that will be sent, else Constrained Baseline, which
  // all decode.
  const best = h264.find((payload) => profileOf(payload).startsWith(purpose === "publish" ? "42e0" : profile));
  const chosen = best ?? constrained ?? h264[0];
  if (!chosen) throw new OfferRefused("unsupported", "The offer has no H.264.");
  return {
    mid: section.mid,
    payloadType: chosen.type,
    parameters: `profile-level-id=${profileOf(chosen)};packetization-mode=1;level-asymmetry-allowed=1`,
    supportsNack: chosen.feedback.includes("nack"),
  };
}

function chooseAudio(section: SdpMedia): ChosenMedia | null {
  const opus = section.payloads.find(({ codec, clockRate }) => codec === "opus" && clockRate === 48_000);
  if (!opus) throw new OfferRefused("unsupported", "The offer has no Opus, which is the audio of WebRTC here.");
  return {
    mid: section.mid,
    payloadType: opus.type,
    parameters: "minptime=10;useinbandfec=1;stereo=1;sprop-stereo=1",
    supportsNack: opus.feedback.includes("nack"),
  };
}
