import { FormatError } from "../bits/index.ts";

/** A browser's offer has two or three. */
const MAX_MEDIA = 16;
/** Chromium lists about sixty. */
const MAX_PAYLOADS = 200;
const MAX_CANDIDATES = 100;

export type Direction = "sendonly" | "recvonly" | "sendrecv" | "inactive";

export interface SdpPayload {
  readonly type: number;
  /** Lower case, for example `h264` or `opus`. */
  readonly codec: string;
  readonly clockRate: number;
  /** Of audio; 1 where the SDP does not say. */
  readonly channels: number;
  /** From `a=fmtp`, by name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** From `a=rtcp-fb`, for example `nack`, `nack pli`, `goog-remb`. */
  readonly feedback: readonly string[];
}

export interface SdpCandidate {
  readonly transport: "udp" | "tcp";
  /** `host`, `srflx`, `prflx`, `relay`. */
  readonly type: string;
}

export interface SdpMedia {
  readonly kind: string;
  readonly mid: string;
  readonly direction: Direction;
  /** As the section lists them, with those that have no `a=rtpmap`. */
  readonly types: readonly number[];
  readonly payloads: readonly SdpPayload[];
  /** `a=control` (RFC 7826 D.1.1); empty without one. */
  readonly control: string;
  readonly candidates: readonly SdpCandidate[];
  /** `a=simulcast`, or more than one `a=rid` layer. */
  readonly hasSimulcast: boolean;
}

export interface SessionDescription {
  readonly media: readonly SdpMedia[];
  readonly isBundled: boolean;
  /** `a=control` of the session; empty without one. */
  readonly control: string;
  /** The values of these attributes, of the session and of all sections. */
  readonly iceUfrags: readonly string[];
  readonly icePwds: readonly string[];
  /** For example `sha-256 AB:CD:…`. */
  readonly fingerprints: readonly string[];
  readonly setups: readonly string[];
}

type Line = readonly [name: string, value: string];

/** Parses the parts of an offer (RFC 8866, RFC 8829) that a media server needs. Throws `FormatError` if the text is not an SDP. */
export function parseSessionDescription(text: string): SessionDescription {
  if (!/^v=0\r?\n/.test(text)) throw new FormatError("an SDP that begins with v=0", 0);
  const sections: string[][] = [[]];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("m=")) {
      if (sections.length > MAX_MEDIA) throw new FormatError(`at most ${MAX_MEDIA} media sections`, 0);
      sections.push([]);
    }
    sections.at(-1)?.push(line);
  }
  const [session = [], ...media] = sections;
  const all = [session, ...media].map(attributesOf);
  const valuesOf = (name: string) =>
    all.flatMap((attributes) => attributes.flatMap(([key, value]) => (key === name ? [value.trim()] : [])));
  const shared = attributesOf(session);
  return {
    media: media.map((lines) => mediaOf(lines, shared)),
    isBundled: shared.some(([name, value]) => name === "group" && value.startsWith("BUNDLE")),
    control: controlOf(shared),
    iceUfrags: valuesOf("ice-ufrag"),
    icePwds: valuesOf("ice-pwd"),
    fingerprints: valuesOf("fingerprint"),
    setups: valuesOf("setup"),
  };
}

const controlOf = (attributes: readonly Line[]): string =>
  attributes.find(([name]) => name === "control")?.[1].trim() ?? "";

function attributesOf(lines: readonly string[]): Line[] {
  return lines
    .filter((line) => line.startsWith("a="))
    .map((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [line.slice(2), ""] : [line.slice(2, colon), line.slice(colon + 1)];
    });
}

const DIRECTIONS: readonly Direction[] = ["sendonly", "recvonly", "sendrecv", "inactive"];

function mediaOf(lines: readonly string[], shared: readonly Line[]): SdpMedia {
  const [kind = "", , , ...types] = (lines[0] ?? "").slice(2).split(" ");
  if (types.length > MAX_PAYLOADS) throw new FormatError(`at most ${MAX_PAYLOADS} payload types`, 0);
  const attributes = attributesOf(lines);
  const direction =
    DIRECTIONS.find((name) => attributes.some(([key]) => key === name)) ??
    DIRECTIONS.find((name) => shared.some(([key]) => key === name)) ??
    "sendrecv";
  const rids = attributes.filter(([name, value]) => name === "rid" && / send\b/.test(value)).length;
  return {
    kind,
    mid: attributes.find(([name]) => name === "mid")?.[1] ?? "",
    direction,
    types: types.map(Number),
    control: controlOf(attributes),
    payloads: types.flatMap((type) => payloadOf(Number(type), attributes) ?? []),
    candidates: attributes
      .filter(([name]) => name === "candidate")
      .slice(0, MAX_CANDIDATES)
      .flatMap(([, value]) => candidateOf(value) ?? []),
    hasSimulcast: rids > 1 || attributes.some(([name]) => name === "simulcast"),
  };
}

const RTP_MAP = /^(\d+) ([\w.-]+)\/(\d+)(?:\/(\d+))?/;

function payloadOf(type: number, attributes: readonly Line[]): SdpPayload | null {
  const own = (name: string) => {
    const values = attributes.filter(([key, value]) => key === name && value.startsWith(`${type} `));
    return values.map(([, value]) => value.slice(`${type} `.length));
  };
  const [, , codec = "", clockRate = "", channels = "1"] = RTP_MAP.exec(`${type} ${own("rtpmap")[0] ?? ""}`) ?? [];
  if (codec === "") return null;
  const parameters = own("fmtp").flatMap((value) => value.split(";"));
  return {
    type,
    codec: codec.toLowerCase(),
    clockRate: Number(clockRate),
    channels: Number(channels),
    parameters: new Map(parameters.map(parameterOf)),
    feedback: own("rtcp-fb"),
  };
}

function parameterOf(text: string): [string, string] {
  const [name = "", ...value] = text.trim().split("=");
  return [name.toLowerCase(), value.join("=")];
}

function candidateOf(value: string): SdpCandidate | null {
  const [, , transport = "", , , , , type = ""] = value.split(" ");
  const name = transport.toLowerCase();
  return name === "udp" || name === "tcp" ? { transport: name, type } : null;
}
