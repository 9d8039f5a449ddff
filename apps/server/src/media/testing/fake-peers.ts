import type { Peer, PeerHandler, PeerSource, ViewingPeer, WebrtcPeers } from "../webrtc/webrtc-process.ts";
import type { MediaFrame, PeerPlan, TimelineClock } from "../webrtc/webrtc-protocol.ts";

/** A WebRTC connection that a test moves. It is answered at once. */
export class FakePeer {
  readonly kind: "watch" | "publish";
  readonly plan: PeerPlan;
  readonly handler: PeerHandler;
  isClosed = false;
  /** The source that a viewer gets, and whether it gets its keyframes alone. */
  shown: readonly [source: number, isKeyframesOnly: boolean, stopsBefore: boolean] = [0, false, false];

  constructor(kind: FakePeer["kind"], plan: PeerPlan, handler: PeerHandler) {
    this.kind = kind;
    this.plan = plan;
    this.handler = handler;
  }

  /** The other side goes away. */
  leave(reason = "the other side closed the connection"): void {
    this.isClosed = true;
    this.handler.closed(reason);
  }
}

/** WebRTC connections without a network. */
export class FakePeers implements WebrtcPeers {
  readonly peers: FakePeer[] = [];
  /** The media that viewers were sent, of all sources. */
  readonly frames: (MediaFrame & { readonly source: number })[] = [];
  /** The last clock of each source. */
  readonly clocks = new Map<number, TimelineClock>();
  openSources = 0;
  #sources = 0;
  answers = true;

  get latest(): FakePeer {
    const peer = this.peers.at(-1);
    if (!peer) throw new Error("nobody is connected");
    return peer;
  }

  prepare(): void {}

  openSource(): PeerSource {
    this.openSources++;
    const id = ++this.#sources;
    return {
      id,
      frame: (frame) => {
        this.frames.push({ ...frame, source: id, data: Uint8Array.from(frame.data) });
        return true;
      },
      setClock: (clock) => void this.clocks.set(id, clock),
      watch: (_offer, plan, handler) => {
        const opened = this.#open("watch", plan, handler);
        const peer = this.latest;
        peer.shown = [id, false, false];
        const show: ViewingPeer["show"] = (source, { isKeyframesOnly, stopsBefore }) => {
          peer.shown = [source.id, isKeyframesOnly, stopsBefore];
        };
        return { ...opened, show };
      },
      close: () => {
        this.openSources--;
      },
    };
  }

  publish(_offer: string, plan: PeerPlan, handler: PeerHandler): Peer {
    return this.#open("publish", plan, handler);
  }

  #open(kind: FakePeer["kind"], plan: PeerPlan, handler: PeerHandler): Peer {
    const peer = new FakePeer(kind, plan, handler);
    this.peers.push(peer);
    if (this.answers) queueMicrotask(() => handler.answered("v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"));
    return {
      close: () => {
        peer.isClosed = true;
      },
    };
  }
}

const FINGERPRINT = `a=fingerprint:sha-256 ${Array(32).fill("AB").join(":")}`;

/** An offer as a browser makes it, shortened. */
export function browserOffer(direction: "sendonly" | "recvonly"): string {
  return [
    ...["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1"],
    ...["a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx", FINGERPRINT],
    ...["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", `a=${direction}`, "a=rtpmap:111 opus/48000/2"],
    ...["m=video 9 UDP/TLS/RTP/SAVPF 107", "a=mid:1", `a=${direction}`, "a=rtpmap:107 H264/90000"],
    ...["a=fmtp:107 packetization-mode=1;profile-level-id=42e01f", ""],
  ].join("\r\n");
}
