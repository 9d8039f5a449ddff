/** After this long without a picture the player connects again: the server may have restarted, or the network changed. */
const STALL_MS = 1500;
/** The first one may have to wait for a keyframe. */
const FIRST_PICTURE_MS = 4000;
const LOOK_MS = 250;
/** Attempts in a row without a picture between them. */
const MAX_TRIES = 2;
/** Candidates of the network's own addresses are there at once. */
const GATHER_MS = 500;

/** A playback by WebRTC. */
export interface WebrtcPlayback {
  /** Goes on in another video element, without a new connection. */
  moveTo(video: HTMLVideoElement): void;
}

/**
 * Plays a live stream by WebRTC (WHEP) in a video element until the signal aborts: half a second behind its broadcaster. `onFailed` is called once,
 * when it does not play or no longer does; then another way has to be found.
 */
export function playWebrtc(
  first: HTMLVideoElement,
  url: string,
  onFailed: () => void,
  signal: AbortSignal,
): WebrtcPlayback {
  let video = first;
  let tries = 0;
  let connection: Connection | null = null;
  let frames = 0;
  let deadline = performance.now() + FIRST_PICTURE_MS;

  const fail = (): void => {
    clearInterval(timer);
    connection?.close();
    if (!signal.aborted) onFailed();
  };
  const connect = (): void => {
    connection?.close();
    deadline = performance.now() + FIRST_PICTURE_MS;
    if (tries++ >= MAX_TRIES) return fail();
    connection = new Connection(video);
    connection.open(url).catch((error: unknown) => {
      if (error instanceof Refused) fail();
    });
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
    moveTo: (next) => {
      next.srcObject = video.srcObject;
      video.srcObject = null;
      video = next;
      frames = 0;
      connection?.moveTo(next);
    },
  };
}

/** The server refused, so the player does not ask again. */
class Refused extends Error {}

/** One WHEP connection. */
class Connection {
  #video: HTMLVideoElement;
  readonly #peer = new RTCPeerConnection();
  readonly #media = new MediaStream();
  readonly #abort = new AbortController();
  #resource: URL | null = null;

  constructor(video: HTMLVideoElement) {
    this.#video = video;
    this.#peer.addEventListener("track", ({ track }) => this.#media.addTrack(track));
  }

  async open(url: string): Promise<void> {
    for (const kind of ["audio", "video"]) this.#peer.addTransceiver(kind, { direction: "recvonly" });
    await this.#peer.setLocalDescription();
    await gathered(this.#peer);
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/sdp" },
      body: this.#peer.localDescription?.sdp ?? "",
      signal: this.#abort.signal,
    });
    if (response.status !== 201) throw new Refused(await response.text());
    const location = response.headers.get("location");
    if (location !== null) this.#resource = new URL(location, response.url);
    await this.#peer.setRemoteDescription({ type: "answer", sdp: await response.text() });
    this.#video.srcObject = this.#media;
    await this.#video.play().catch(() => {});
  }

  moveTo(video: HTMLVideoElement): void {
    this.#video = video;
    video.play().catch(() => {});
  }

  close(): void {
    this.#abort.abort();
    this.#peer.close();
    if (this.#resource) fetch(this.#resource, { method: "DELETE", keepalive: true }).catch(() => {});
    this.#resource = null;
  }
}

/** Resolves when the peer knows its own candidates, or has looked for long enough. */
export async function gathered(peer: RTCPeerConnection): Promise<void> {
  if (peer.iceGatheringState === "complete") return;
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, GATHER_MS);
    peer.addEventListener("icegatheringstatechange", () => {
      if (peer.iceGatheringState !== "complete") return;
      clearTimeout(late);
      resolve();
    });
  });
}

/** The WebRTC address of the live stream at an HLS address, with the same credential; null for any other address. */
export function whepAddressOf(src: string): string | null {
  const [, origin = "", playbackId, query = ""] =
    /^(https?:\/\/[^/]+)?\/hls\/([a-z0-9]+)\/index\.m3u8(\?.*)?$/.exec(src) ?? [];
  return playbackId === undefined ? null : `${origin}/webrtc/${playbackId}${query}`;
}
