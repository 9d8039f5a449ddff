/** After this long without a picture the player connects again: the server may have restarted, or the network changed. */
const STALL_MS = 1500;
/** The first one may have to wait for a keyframe. */
const FIRST_PICTURE_MS = 4000;
const LOOK_MS = 250;
/** Attempts in a row without a picture between them. */
const MAX_TRIES = 2;
/** The machine's own addresses are there at once. The server needs none of them, as clients send the first check: it names their kinds in its log. */
const GATHER_MS = 100;

/** How long packets may take to reach the server and come back before the network counts as one that blocks UDP. */
const REACH_MS = 500;
/** A relay is reached by TCP, often with TLS. */
const REACH_BY_RELAY_MS = 3000;
const RELAYS_MS = 2000;

/**
 * Why a stream does not play by WebRTC: it is not live at this moment, the server refused, UDP does not get through and no relay does either, or no
 * picture came.
 */
export type WebrtcFailure = "away" | "refused" | "blocked" | "no-picture";

/** A playback by WebRTC. */
export interface WebrtcPlayback {
  /** Whether UDP did not get through, and relays are tried. */
  readonly isByRelay: boolean;
  /** Goes on in another video element, without a new connection. */
  moveTo(video: HTMLVideoElement): void;
}

/**
 * Plays a live stream by WebRTC (WHEP) in a video element until the signal aborts: half a second behind its broadcaster. Where UDP does not get through,
 * it asks the server for relays (TURN) and connects by them. `onFailed` is called once, when it does not play or no longer does; then another way has to
 * be found.
 */
export function playWebrtc(
  first: HTMLVideoElement,
  url: string,
  onFailed: (why: WebrtcFailure) => void,
  signal: AbortSignal,
): WebrtcPlayback {
  let video = first;
  let tries = 0;
  let connection: Connection | null = null;
  let needsRelay = false;
  let frames = 0;
  let deadline = performance.now() + FIRST_PICTURE_MS;

  const fail = (why: WebrtcFailure): void => {
    clearInterval(timer);
    connection?.close();
    if (!signal.aborted) onFailed(why);
  };
  const connect = (): void => {
    connection?.close();
    deadline = performance.now() + FIRST_PICTURE_MS;
    if (tries++ >= MAX_TRIES) return fail("no-picture");
    const mine = new Connection(video);
    connection = mine;
    mine.open(url, needsRelay).then(
      (isReached) => {
        if (isReached || connection !== mine || signal.aborted) return;
        if (needsRelay) return fail("blocked");
        needsRelay = true;
        tries = 0;
        connect();
      },
      (error: unknown) => {
        if (error instanceof NotPlayed && connection === mine) fail(error.why);
      },
    );
  };
  const look = (): void => {
    const shown = video.getVideoPlaybackQuality().totalVideoFrames;
    const now = performance.now();
    if (shown !== frames || video.paused) {
      if (shown > frames) tries = 0;
      frames = shown;
      deadline = now + STALL_MS;
    } else if (now > deadline) connect();
  };
  const timer = setInterval(look, LOOK_MS);
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    connection?.close();
    video.srcObject = null;
  });
  connect();
  return {
    get isByRelay() {
      return needsRelay;
    },
    moveTo: (next) => {
      next.srcObject = video.srcObject;
      video.srcObject = null;
      video = next;
      frames = 0;
      connection?.moveTo(next);
    },
  };
}

/** The player does not try again. */
class NotPlayed extends Error {
  readonly why: WebrtcFailure;

  constructor(why: WebrtcFailure, message: string) {
    super(message);
    this.why = why;
  }
}

/** One WHEP connection. */
class Connection {
  #video: HTMLVideoElement;
  #peer: RTCPeerConnection | null = null;
  readonly #media = new MediaStream();
  readonly #abort = new AbortController();
  #resource: URL | null = null;

  constructor(video: HTMLVideoElement) {
    this.#video = video;
  }

  /** Resolves with whether packets reach the server. Rejects with `NotPlayed` where it refuses, or has no relays. */
  async open(url: string, byRelay: boolean): Promise<boolean> {
    const { signal } = this.#abort;
    const peer = new RTCPeerConnection(byRelay ? { iceServers: await relaysOf(url, signal) } : {});
    this.#peer = peer;
    if (signal.aborted) return this.#stop();
    peer.addEventListener("track", ({ track }) => this.#media.addTrack(track));
    for (const kind of ["audio", "video"]) peer.addTransceiver(kind, { direction: "recvonly" });
    await peer.setLocalDescription();
    await gathered(peer);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/sdp" },
      body: peer.localDescription?.sdp ?? "",
      signal,
    });
    if (response.status !== 201)
      throw new NotPlayed(response.status === 404 ? "away" : "refused", await response.text());
    const location = response.headers.get("location");
    if (location !== null) this.#resource = new URL(location, response.url);
    await peer.setRemoteDescription({ type: "answer", sdp: await response.text() });
    const isReached = await reached(peer, byRelay ? REACH_BY_RELAY_MS : REACH_MS);
    if (!isReached || signal.aborted) return isReached;
    // Not before: Chromium takes the end of tracks that never came for a first picture.
    this.#video.srcObject = this.#media;
    void this.#video.play().catch(() => {});
    return true;
  }

  moveTo(video: HTMLVideoElement): void {
    this.#video = video;
    video.play().catch(() => {});
  }

  close(): void {
    this.#abort.abort();
    this.#stop();
    if (this.#resource) fetch(this.#resource, { method: "DELETE", keepalive: true }).catch(() => {});
    this.#resource = null;
  }

  #stop(): false {
    this.#peer?.close();
    return false;
  }
}

/** The relays that the server has for this viewer. Rejects with `NotPlayed` where there are none. */
async function relaysOf(url: string, signal: AbortSignal): Promise<RTCIceServer[]> {
  const [path, query = ""] = url.split(/(?=\?)/);
  const response = await fetch(`${path}/ice-servers${query}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(RELAYS_MS)]),
  }).catch(() => null);
  const { iceServers } = response?.ok
    ? ((await response.json()) as { iceServers: RTCIceServer[] })
    : { iceServers: [] };
  if (iceServers.length === 0) throw new NotPlayed("blocked", "UDP does not get through, and there is no relay");
  return iceServers;
}

/** Whether packets come back from the server within so long. */
async function reached(peer: RTCPeerConnection, withinMs: number): Promise<boolean> {
  const isConnected = (): boolean => peer.iceConnectionState === "connected" || peer.iceConnectionState === "completed";
  if (isConnected()) return true;
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(isConnected()), withinMs);
    peer.addEventListener("iceconnectionstatechange", () => {
      if (!isConnected()) return;
      clearTimeout(late);
      resolve(true);
    });
  });
}

/**
 * Resolves when the peer knows its own candidates, or has looked for long enough. One relay is enough: on a machine with several networks, those that do
 * not lead to the relay would be waited for.
 */
export async function gathered(peer: RTCPeerConnection): Promise<void> {
  if (peer.iceGatheringState === "complete") return;
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, GATHER_MS);
    const done = (): void => {
      clearTimeout(late);
      resolve();
    };
    peer.addEventListener("icegatheringstatechange", () => peer.iceGatheringState === "complete" && done());
    peer.addEventListener("icecandidate", ({ candidate }) => candidate?.type === "relay" && done());
  });
}

/** The WebRTC address of the live stream at an HLS address, with the same credential; null for any other address. */
export function whepAddressOf(src: string): string | null {
  const [, origin = "", playbackId, query = ""] =
    /^(https?:\/\/[^/]+)?\/hls\/([a-z0-9]+)\/index\.m3u8(\?.*)?$/.exec(src) ?? [];
  return playbackId === undefined ? null : `${origin}/webrtc/${playbackId}${query}`;
}
