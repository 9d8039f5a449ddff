import nodeDataChannel, { type PeerConnection, type Track } from "node-datachannel";
import { type PeerPlan, REJECTED_OFFER, type WebrtcStart } from "./webrtc-protocol.ts";

const { PeerConnection: Connection, Audio, Video } = nodeDataChannel;

/** How long a lost connection may take to recover. */
const LOST_MS = 5_000;

export type MediaKind = "video" | "audio";

export interface PeerEvents {
  /** The answer SDP. */
  answered(sdp: string): void;
  /** Media can be sent. */
  connected(): void;
  /** The last event. */
  closed(reason: string): void;
}

export interface PeerTracks {
  readonly video: Track | null;
  readonly audio: Track | null;
}

/** Configures the description of a track in the answer. */
export type DescribeTrack = (kind: MediaKind, description: InstanceType<typeof Video | typeof Audio>) => void;

/** What is wrong is in the offer, by the library's words. */
class OfferRejected extends Error {
  override readonly name = "OfferRejected";
}

/** One WebRTC connection (ICE and DTLS) that answers an offer. Runs only in the WebRTC child. */
export class PeerTransport {
  readonly tracks: PeerTracks;
  readonly #connection: PeerConnection;
  readonly #events: PeerEvents;
  /** Closes a lost connection that does not recover. */
  #deadline: NodeJS.Timeout | undefined;
  #isAnswered = false;
  #isConnected = false;
  #isClosed = false;

  /** Throws if the library rejects the offer. */
  constructor(
    name: string,
    { port, bindAddress }: WebrtcStart,
    { offer, plan, direction }: { offer: string; plan: PeerPlan; direction: "SendOnly" | "RecvOnly" },
    describe: DescribeTrack,
    events: PeerEvents,
  ) {
    this.#events = events;
    this.#connection = new Connection(name, {
      ...{ iceServers: [], enableIceUdpMux: true, portRangeBegin: port, portRangeEnd: port },
      disableAutoNegotiation: true,
      ...(bindAddress === null ? {} : { bindAddress }),
    });
    this.#connection.onStateChange((state) => this.#changed(state));
    this.#connection.onGatheringStateChange((state) => {
      if (state === "complete") this.#answer();
    });
    try {
      this.tracks = this.#addTracks(plan, direction, describe);
      this.#setOffer(offer);
      this.#connection.setLocalDescription("answer");
    } catch (error) {
      this.close(error instanceof OfferRejected ? error.message : "the offer could not be answered");
      throw error;
    }
  }

  get isConnected(): boolean {
    return this.#isConnected && !this.#isClosed;
  }

  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    this.#connection.close();
    this.#events.closed(reason);
  }

  #setOffer(offer: string): void {
    try {
      this.#connection.setRemoteDescription(offer, "offer");
    } catch (error) {
      throw new OfferRejected(`${REJECTED_OFFER}${saidBy(error)}.`);
    }
  }

  #addTracks(
    { video, audio, unused }: PeerPlan,
    direction: "SendOnly" | "RecvOnly",
    describe: DescribeTrack,
  ): PeerTracks {
    const tracks: { video: Track | null; audio: Track | null } = { video: null, audio: null };
    if (video) {
      const description = new Video(video.mid, direction);
      description.addH264Codec(video.payloadType, video.parameters);
      describe("video", description);
      tracks.video = this.#connection.addTrack(description);
    }
    if (audio) {
      const description = new Audio(audio.mid, direction);
      description.addOpusCodec(audio.payloadType, audio.parameters);
      describe("audio", description);
      tracks.audio = this.#connection.addTrack(description);
    }
    for (const { kind, mid, payloadType } of unused) {
      const description = kind === "video" ? new Video(mid, "Inactive") : new Audio(mid, "Inactive");
      if (kind === "video") (description as InstanceType<typeof Video>).addH264Codec(payloadType);
      else (description as InstanceType<typeof Audio>).addOpusCodec(payloadType);
      this.#connection.addTrack(description);
    }
    return tracks;
  }

  #answer(): void {
    const description = this.#connection.localDescription();
    if (this.#isAnswered || this.#isClosed || !description) return;
    this.#isAnswered = true;
    this.#events.answered(description.sdp);
  }

  #changed(state: string): void {
    if (this.#isClosed) return;
    if (state === "connected") {
      clearTimeout(this.#deadline);
      if (!this.#isConnected) {
        this.#isConnected = true;
        this.#events.connected();
      }
    } else if (state === "disconnected") {
      clearTimeout(this.#deadline);
      this.#deadline = setTimeout(() => this.close("the connection was lost"), LOST_MS);
    } else if (state === "failed")
      this.close(this.#isConnected ? "the connection was lost" : "no connection by ICE or DTLS");
    else if (state === "closed") this.close("the other side closed the connection");
  }
}

/** The library puts a prefix of its own before what it found. */
function saidBy(error: unknown): string {
  const said = error instanceof Error ? error.message.replace(/^.*libdatachannel error[^:]*: /, "") : String(error);
  return said.replace(/[^\x20-\x7e]/g, " ").slice(0, 200);
}
