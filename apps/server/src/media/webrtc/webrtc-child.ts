import { Socket } from "node:net";
import { FanOut } from "./fan-out.ts";
import type { PeerEvents } from "./peer-transport.ts";
import { PublishPeer } from "./publish-peer.ts";
import { RelayedPeers } from "./relayed-peers.ts";
import { WatchPeer } from "./watch-peer.ts";
import {
  type FromWebrtcChild,
  frameFromWebrtcChild,
  type MediaFrame,
  type PeerOffer,
  type ToWebrtcChild,
  toWebrtcChildReader,
  type WebrtcStart,
} from "./webrtc-protocol.ts";

/**
 * The process with all WebRTC connections: it answers offers, sends sources to viewers and passes on what publishers send. It exits when its input
 * pipe closes.
 */

/** Limit of the bytes that the parent has not read. Beyond it, publishers' frames are dropped until their next keyframe. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const REPORTS_MS = 1000;

const input = new Socket({ fd: 3, readable: true, writable: false });
const output = new Socket({ fd: 4, readable: false, writable: true });
const read = toWebrtcChildReader();
const sources = new Map<number, FanOut>();
const peers = new Map<number, WatchPeer | PublishPeer>();
let settings: WebrtcStart | null = null;
let relayed: RelayedPeers | null = null;

input.on("data", (bytes) => {
  for (const message of read(bytes)) take(message);
});
for (const pipe of [input, output]) pipe.on("error", () => process.exit(1)).on("close", () => process.exit(0));

/** Sent without a report as well: a child that is silent counts as hung. */
setInterval(() => {
  send({ type: "reports", reports: [...peers.values()].flatMap((peer) => peer.takeReport() ?? []) });
}, REPORTS_MS);

function take(message: ToWebrtcChild): void {
  switch (message.type) {
    case "start":
      settings = message.start;
      relayed = relayedPeersOf(settings);
      return;
    case "watch":
      return open(message, (start, events) => new WatchPeer(start, message, sourceOf(message.source), events));
    case "publish":
      return open(message, (start, events) => new PublishPeer(start, message, framesOf(message), events));
    case "show": {
      const viewer = peers.get(message.peer);
      if (viewer instanceof WatchPeer) viewer.show(sourceOf(message.source), message);
      return;
    }
    case "close":
      return peers.get(message.peer)?.close("closed by the server");
    case "frame":
      return sourceOf(message.source).frame(message.frame);
    case "clock":
      sourceOf(message.source).clock = message.clock;
      return;
    case "end-source":
      sources.delete(message.source);
  }
}

const relayedPeersOf = ({ relayedPort = null, port, bindAddress }: WebrtcStart): RelayedPeers | null =>
  relayedPort === null ? null : new RelayedPeers({ port: relayedPort, bindAddress, libraryPort: port });

function open({ peer }: PeerOffer, make: (start: WebrtcStart, events: PeerEvents) => WatchPeer | PublishPeer): void {
  if (!settings) throw new Error("a peer message arrived before the start message");
  let isClosed = false;
  let endRelaying: () => void = () => {};
  const events: PeerEvents = {
    answered: (sdp) => {
      endRelaying = relayed?.expect(sdp) ?? endRelaying;
      send({ type: "answer", peer, sdp });
    },
    connected: () => send({ type: "connected", peer }),
    closed: (reason) => {
      if (isClosed) return;
      isClosed = true;
      endRelaying();
      peers.delete(peer);
      send({ type: "closed", peer, reason });
    },
  };
  try {
    const made = make(settings, events);
    if (!isClosed) peers.set(peer, made);
  } catch (error) {
    events.closed(`the offer could not be answered: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function sourceOf(id: number): FanOut {
  const known = sources.get(id);
  if (known) return known;
  const source = new FanOut();
  sources.set(id, source);
  return source;
}

function framesOf({ peer, plan }: PeerOffer): (frame: MediaFrame) => void {
  const leading = plan.video ? "video" : "audio";
  let isDropping = false;
  return (frame) => {
    if (output.writableLength > MAX_UNREAD_BYTES) isDropping = true;
    else if (frame.kind === leading && frame.isIndependent) isDropping = false;
    if (isDropping) return;
    send({ type: "frame", peer, frame });
  };
}

function send(message: FromWebrtcChild): void {
  output.write(frameFromWebrtcChild(message));
}
