import { gathered } from "../webrtc/index.ts";
import { broadcastStrings as text } from "./broadcast-strings.ts";

export type PublishState = "connecting" | "live" | "reconnecting" | "failed";

export interface BroadcastFigures {
  readonly bitsPerSecond: number;
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  /** Of the packets since the last look, from 0 to 1. */
  readonly fractionLost: number;
  readonly roundTripMs: number | null;
  /** Packets that were sent a second time, since it connected. */
  readonly retransmits: number;
}

export interface PublishListener {
  onState(state: PublishState, problem: string | null): void;
  onFigures(figures: BroadcastFigures): void;
}

const RETRY_MS = 1000;
/** The server waits for a lost broadcaster for half a minute. */
const MAX_TRIES = 20;
const LOOK_MS = 1000;
/** How long the end of a broadcast waits for the server. */
const END_TIMEOUT_MS = 2000;
/** Packets that have not come through by then will not. */
const REACH_MS = 2500;

/** A broadcast that runs. */
export interface Publishing {
  /** Sends the tracks that the media has now, in the place of those of their kind before. A kind that was not sent from the beginning is not sent. */
  replaceTracks(): void;
}

/** Publishes media by WHIP until the signal aborts. It reconnects after a lost connection, and the server continues the session. */
export function publishMedia(
  media: MediaStream,
  url: string,
  listener: PublishListener,
  signal: AbortSignal,
): Publishing {
  let connection: WhipConnection | null = null;
  let tries = 0;
  let relays: readonly RTCIceServer[] = [];
  /** Also what is silent when it connects again: no kind can be added without a new offer. */
  const kinds = [...new Set(media.getTracks().map(({ kind }) => kind))];
  let retry: ReturnType<typeof setTimeout> | undefined;

  const lost = (problem: string | null): void => {
    connection?.close();
    connection = null;
    if (signal.aborted) return;
    if (++tries > MAX_TRIES) return listener.onState("failed", problem);
    listener.onState("reconnecting", problem);
    clearTimeout(retry);
    retry = setTimeout(connect, RETRY_MS);
  };
  const connect = (): void => {
    const isByRelay = relays.length > 0;
    let isReached = false;
    const made = new WhipConnection(media, kinds, relays, {
      connected: () => {
        isReached = true;
        tries = 0;
        listener.onState("live", null);
      },
      lost: () => made === connection && lost(isReached ? null : text.unreached),
      unreached: () => {
        if (made !== connection) return;
        relays = made.relays;
        if (isByRelay) return lost(text.unreached);
        tries++;
        made.close();
        connect();
      },
    });
    connection = made;
    const ended = made.open(url).then(() => made.ended());
    ended.catch((error: unknown) => {
      if (made !== connection) return;
      if (!(error instanceof WhipRefused)) return lost(error instanceof Error ? error.message : String(error));
      connection = null;
      made.close();
      listener.onState("failed", error.message);
    });
  };
  const timer = setInterval(
    () => void connection?.figures().then((figures) => figures && listener.onFigures(figures)),
    LOOK_MS,
  );
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    clearTimeout(retry);
    connection?.end();
  });
  listener.onState("connecting", null);
  connect();
  return { replaceTracks: () => connection?.replaceTracks() };
}

/** The server said no, in words: to ask again is of no use. */
class WhipRefused extends Error {}

/** The server may answer otherwise when it is asked again after 429 and 5xx. */
async function refusalIn(response: Response): Promise<Error> {
  const sentence = await response.text();
  return response.status >= 500 || response.status === 429 ? new Error(sentence) : new WhipRefused(sentence);
}

interface WhipEvents {
  connected(): void;
  lost(): void;
  /** No packet came through, and there are relays to try. */
  unreached(): void;
}

/** The TURN servers of a `Link` header (RFC 9725 4.6). */
export function relaysIn(link: string | null): RTCIceServer[] {
  const found = (link ?? "").matchAll(
    /<(turns?:[^>]+)>; ?rel="ice-server"; ?username="([^"]*)"; ?credential="([^"]*)"/g,
  );
  return Array.from(found, ([, urls = "", username = "", credential = ""]) => ({ urls, username, credential }));
}

class WhipConnection {
  /** TURN servers that the answer named. */
  relays: readonly RTCIceServer[] = [];
  readonly #peer: RTCPeerConnection;
  readonly #media: MediaStream;
  readonly #kinds: readonly string[];
  readonly #abort = new AbortController();
  readonly #senders: { readonly kind: string; readonly sender: RTCRtpSender }[] = [];
  #resource: URL | null = null;
  #before: { readonly at: number; readonly bytes: number } | null = null;

  readonly #events: WhipEvents;

  constructor(media: MediaStream, kinds: readonly string[], relays: readonly RTCIceServer[], events: WhipEvents) {
    this.#media = media;
    this.#kinds = kinds;
    this.#events = events;
    this.#peer = new RTCPeerConnection({ iceServers: [...relays] });
    this.#peer.addEventListener("connectionstatechange", () => {
      const { connectionState } = this.#peer;
      if (connectionState === "connected") events.connected();
      else if (connectionState === "disconnected" || connectionState === "failed") events.lost();
    });
  }

  async open(url: string): Promise<void> {
    for (const kind of this.#kinds) {
      const init: RTCRtpTransceiverInit = { direction: "sendonly", streams: [this.#media] };
      const { sender } = this.#peer.addTransceiver(this.#trackOf(kind) ?? kind, init);
      this.#senders.push({ kind, sender });
      const parameters = sender.getParameters();
      // Each change of the size is a discontinuity for HLS viewers: rather fewer pictures a second.
      parameters.degradationPreference = "maintain-resolution";
      await sender.setParameters(parameters);
    }
    await this.#peer.setLocalDescription();
    await gathered(this.#peer);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/sdp" },
      body: this.#peer.localDescription?.sdp ?? "",
    });
    if (response.status !== 201) throw await refusalIn(response);
    const answer = await response.text();
    const location = response.headers.get("location");
    if (location !== null) this.#resource = new URL(location, response.url);
    await this.#peer.setRemoteDescription({ type: "answer", sdp: answer });
    this.relays = relaysIn(response.headers.get("link"));
    if (this.relays.length > 0) this.#watchReach();
  }

  /** Needs no new offer (WebRTC 5.2, replaceTrack). A connection that closes meanwhile needs none at all. */
  replaceTracks(): void {
    for (const { kind, sender } of this.#senders) {
      const track = this.#trackOf(kind);
      if (sender.track !== track) sender.replaceTrack(track).catch(() => {});
    }
  }

  #trackOf(kind: string): MediaStreamTrack | null {
    return this.#media.getTracks().find((track) => track.kind === kind) ?? null;
  }

  /** A network that blocks UDP says nothing: relays are for the next connection, whose candidates they must be among. */
  #watchReach(): void {
    const isReached = (): boolean => this.#peer.connectionState === "connected";
    const late = setTimeout(() => !isReached() && this.#events.unreached(), REACH_MS);
    this.#abort.signal.addEventListener("abort", () => clearTimeout(late));
  }

  /**
   * Rejects with the reason when the server has ended the connection, which the connection itself takes seconds to notice. Resolves if the server
   * cannot tell.
   */
  async ended(): Promise<void> {
    if (this.#resource === null) return;
    const url = `${this.#resource.href}/end`;
    const { signal } = this.#abort;
    for (;;) {
      const response = await fetch(url, { signal }).catch(() => null);
      if (signal.aborted || response?.status === 404) return;
      // Without an answer the connection decides: its path may be there while the one of this request is not.
      if (response === null) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      else if (response.status !== 204) throw await refusalIn(response);
    }
  }

  /** Null before anything is sent. */
  async figures(): Promise<BroadcastFigures | null> {
    if (this.#peer.connectionState !== "connected") return null;
    const stats = await this.#peer.getStats();
    const reports = [...(stats as unknown as ReadonlyMap<string, RTCStats>).values()];
    const isVideo = (report: RTCStats) => (report as RTCRtpStreamStats).kind === "video";
    const sent = reports.find((report) => report.type === "outbound-rtp" && isVideo(report));
    const received = reports.find((report) => report.type === "remote-inbound-rtp" && isVideo(report));
    const all = reports.filter((report) => report.type === "outbound-rtp") as RTCOutboundRtpStreamStats[];
    const bytes = all.reduce((sum, { bytesSent = 0 }) => sum + bytesSent, 0);
    const now = performance.now();
    const before = this.#before;
    this.#before = { at: now, bytes };
    if (!sent || !before) return null;
    const { frameWidth, frameHeight, framesPerSecond, retransmittedPacketsSent } = sent as RTCOutboundRtpStreamStats;
    const { fractionLost, roundTripTime } = (received ?? {}) as { fractionLost?: number; roundTripTime?: number };
    return {
      bitsPerSecond: (8 * (bytes - before.bytes) * 1000) / (now - before.at),
      width: frameWidth ?? 0,
      height: frameHeight ?? 0,
      framesPerSecond: framesPerSecond ?? 0,
      fractionLost: fractionLost ?? 0,
      roundTripMs: roundTripTime === undefined ? null : roundTripTime * 1000,
      retransmits: retransmittedPacketsSent ?? 0,
    };
  }

  /** The broadcast is over: the server need not wait for us. */
  end(): void {
    // The connection stays until the answer: the server would take a closed one for a lost source, and wait for it to come back.
    const signal = AbortSignal.timeout(END_TIMEOUT_MS);
    const ended = this.#resource
      ? fetch(this.#resource, { method: "DELETE", keepalive: true, signal })
      : Promise.resolve();
    ended.catch(() => {}).finally(() => this.close());
  }

  close(): void {
    this.#abort.abort();
    this.#peer.close();
  }
}
