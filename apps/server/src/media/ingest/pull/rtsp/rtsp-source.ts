import { FormatError } from "@weir/formats/bits";
import type { RtspResponse } from "@weir/formats/rtsp";
import { parseSessionDescription, type SessionDescription } from "@weir/formats/sdp";
import type { Timer } from "../../../../platform/clock.ts";
import type { PullSource } from "../../../../ports/index.ts";
import type { LeftOut } from "../../left-out.ts";
import type { SourceOpening } from "../source-opening.ts";
import { LOST, SourceProblem } from "../source-problem.ts";
import { RtspConnection } from "./rtsp-connection.ts";
import { RtspCredentials } from "./rtsp-credentials.ts";
import { type RtspTrack, tracksOf } from "./rtsp-tracks.ts";

const MAX_REDIRECTS = 5;
const MAX_URL = 2048;
/** Where a server does not say (RFC 7826 18.49). */
const SESSION_TIMEOUT_S = 60;
const LEAST_KEEP_ALIVE_MS = 2_000;
const MOST_KEEP_ALIVE_MS = 30_000;
/** Sender reports alone are no media. */
const QUIET_MS = 15_000;

/** What a source sends: first its tracks, then packets of RTP and RTCP. `starts`: the RTP times of one moment. */
export type RtspPiece =
  | {
      readonly type: "tracks";
      readonly tracks: readonly RtspTrack[];
      /** Of the description, what is not taken. */
      readonly leftOut: LeftOut;
      readonly starts: readonly { readonly kind: "video" | "audio"; readonly timestamp: number }[];
    }
  | { readonly type: "media" | "reports"; readonly kind: "video" | "audio"; readonly bytes: Uint8Array };

interface Described {
  readonly connection: RtspConnection;
  readonly session: SessionDescription;
  /** What relative addresses of the description begin with. */
  readonly base: string;
}

/** The media of a source over RTSP, until it is lost: throws `SourceProblem`, `UnsupportedCodec` and `FormatError`, and the signal's reason. */
export async function* openRtsp(
  { url }: Pick<PullSource, "url">,
  opening: SourceOpening,
): AsyncGenerator<RtspPiece, void> {
  const { connection, session, base } = await describe(url, opening);
  using _ = connection;
  const tracks = tracksOf(session);
  const headers: Record<string, string> = {};
  let timeoutS = SESSION_TIMEOUT_S;
  const channels: ("video" | "audio")[] = [];
  const places: string[] = [];
  for (const [index, { kind, control }] of tracks.entries()) {
    const place = placeOf(control, base);
    const wanted = `RTP/AVP/TCP;unicast;interleaved=${index * 2}-${index * 2 + 1}`;
    const answer = await connection.ask("SETUP", place, { ...headers, Transport: wanted });
    if (answer.status === 461)
      throw new SourceProblem(
        "The source sends its media over UDP only. Allow RTSP over TCP (interleaved) in its settings.",
      );
    checkStatus(answer);
    const [, channel] = /interleaved=(\d{1,3})/.exec(answer.headers.get("transport")?.[0] ?? "") ?? [];
    const first = channel === undefined ? index * 2 : Number(channel);
    channels[first - (first % 2)] = kind;
    places.push(place);
    const [, id, seconds] =
      /^([^;\s]{1,200})(?:.*timeout\s*=\s*(\d{1,5}))?/.exec(answer.headers.get("session")?.[0] ?? "") ?? [];
    if (id !== undefined) headers.Session = id;
    if (seconds !== undefined) timeoutS = Number(seconds);
  }
  const aggregate = placeOf(session.control, base);
  const playing = checkStatus(await connection.ask("PLAY", aggregate, { ...headers, Range: "npt=0.000-" }));
  using keepAlive = new KeepAlive(connection, aggregate, headers, timeoutS, opening);
  void keepAlive;
  yield { type: "tracks", tracks, leftOut: leftOutOf(session), starts: startsOf(playing, tracks, places) };
  try {
    let mediaAt = opening.clock.monotonic();
    for (;;) {
      const { channel, bytes } = await connection.next();
      const kind = channels[channel - (channel % 2)];
      const isMedia = kind !== undefined && channel % 2 === 0;
      const now = opening.clock.monotonic();
      if (isMedia) mediaAt = now;
      else if (now - mediaAt > QUIET_MS) throw new SourceProblem(LOST);
      if (kind) yield { type: isMedia ? "media" : "reports", kind, bytes };
    }
  } finally {
    connection.tell("TEARDOWN", aggregate, headers);
  }
}

/** Follows redirects; each leads through the dialer. */
async function describe(source: string, opening: SourceOpening): Promise<Described> {
  const own = new URL(source);
  const credentials = new RtspCredentials(own);
  let place = bare(own);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const isOwn = new URL(place).host === own.host && new URL(place).protocol === own.protocol;
    const connection = await RtspConnection.open(place, { ...opening, credentials: isOwn ? credentials : null });
    let isKept = false;
    try {
      await connection.ask("OPTIONS", place);
      const answer = await connection.ask("DESCRIBE", place, { Accept: "application/sdp" });
      if (answer.status < 300 || answer.status > 399) {
        checkStatus(answer);
        const session = parseSessionDescription(Buffer.from(answer.body).toString("utf8"));
        isKept = true;
        const named = answer.headers.get("content-base")?.[0] ?? answer.headers.get("content-location")?.[0] ?? "";
        return { connection, session, base: placeOf(named, place) };
      }
      place = redirected(answer.headers.get("location")?.[0] ?? "", place);
    } catch (error) {
      if (error instanceof FormatError)
        throw new SourceProblem(`The source's description cannot be read: ${error.message}.`);
      throw error;
    } finally {
      if (!isKept) connection[Symbol.dispose]();
    }
  }
  throw new SourceProblem(`The source redirected more than ${MAX_REDIRECTS} times.`);
}

function redirected(location: string, from: string): string {
  const url = URL.parse(location, from);
  if (!url || !/^rtsps?:$/.test(url.protocol) || location.length > MAX_URL)
    throw new SourceProblem("The source leads to something that is no rtsp:// or rtsps:// address.");
  if (from.startsWith("rtsps:") && url.protocol !== "rtsps:")
    throw new SourceProblem("The source leads from rtsps:// to an address without it.");
  return bare(url);
}

/** Without user name and password. */
function bare(url: URL): string {
  const copy = new URL(url);
  copy.username = "";
  copy.password = "";
  return copy.href;
}

/**
 * The address of a track or of all, as the same connection is asked for it: cameras behind a router name their own host, so the host is always that
 * of the base, and nothing is connected to.
 */
export function placeOf(control: string, base: string): string {
  if (control === "" || control === "*") return base;
  // Neither a line nor a header may end within it.
  if (/[^\x21-\x7e]/.test(control) || control.length + base.length > MAX_URL)
    throw new SourceProblem("The source's description names a track by what is no address.");
  const own = new URL(base);
  const absolute = /^[a-z]+:\/\/[^/?]*(.*)$/i.exec(control);
  if (absolute) return `${own.protocol}//${own.host}${absolute[1]}`;
  if (control.startsWith("?")) return `${base}${control}`;
  return `${base.replace(/\/$/, "")}/${control.replace(/^\//, "")}`;
}

function checkStatus(answer: RtspResponse): RtspResponse {
  const { status } = answer;
  if (status >= 200 && status <= 299) return answer;
  if (status === 403) throw new SourceProblem("The source answered 403. Check its user name and password.");
  if (status === 404) throw new SourceProblem("The source answered that there is nothing at its address (404).");
  if (status === 453)
    throw new SourceProblem("The source has no bandwidth left (453): close other viewers of the camera.");
  throw new SourceProblem(`The source answered ${status}.`);
}

function leftOutOf({ media }: SessionDescription): LeftOut {
  // What a camera takes (a loudspeaker) is no track of it; nor are the events of its analysis captions.
  const count = (kind: string) => media.filter((one) => one.kind === kind && one.direction !== "recvonly").length;
  return { video: Math.max(0, count("video") - 1), audio: Math.max(0, count("audio") - 1), captions: 0 };
}

/** RTP times of the same moment (RFC 7826 18.45); none unless all tracks have one. */
function startsOf(answer: RtspResponse, tracks: readonly RtspTrack[], places: readonly string[]) {
  const infos = (answer.headers.get("rtp-info") ?? []).flatMap((value) => value.split(/,(?=\s*url)/));
  const starts = tracks.flatMap(({ kind }, index) => {
    const place = places[index] ?? "";
    const own = infos.find((info) => {
      const name = /url=\s*"?([^;",]+)/.exec(info)?.[1] ?? "";
      return name !== "" && (place.endsWith(name) || name.split("/").at(-1) === place.split("/").at(-1));
    });
    const [, time] = /rtptime=(\d{1,10})/.exec(own ?? "") ?? [];
    return time === undefined ? [] : [{ kind, timestamp: Number(time) % 2 ** 32 }];
  });
  return starts.length === tracks.length ? starts : [];
}

/** Tells the server at half its timeout that the session is wanted: by GET_PARAMETER, or OPTIONS where it does not know that. */
class KeepAlive implements Disposable {
  readonly #timer: Timer;
  #method = "GET_PARAMETER";

  constructor(
    connection: RtspConnection,
    url: string,
    headers: Readonly<Record<string, string>>,
    timeoutS: number,
    { clock }: SourceOpening,
  ) {
    const everyMs = Math.min(MOST_KEEP_ALIVE_MS, Math.max(LEAST_KEEP_ALIVE_MS, timeoutS * 500));
    this.#timer = clock.every(everyMs, () =>
      connection.tell(this.#method, url, headers, ({ status }) => {
        if (status === 405 || status === 501 || status === 404 || status === 400 || status === 551)
          this.#method = "OPTIONS";
      }),
    );
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
  }
}
