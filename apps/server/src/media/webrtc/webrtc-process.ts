import { fileURLToPath } from "node:url";
import { withoutCandidates } from "@weir/formats/sdp";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { killed, killSilent, type PipedChild, startPipedChild, takeMessages } from "../../platform/piped-child.ts";
import {
  type FromWebrtcChild,
  frameToWebrtcChild,
  fromWebrtcChildReader,
  type MediaFrame,
  type PeerOffer,
  type PeerPlan,
  type PeerReport,
  type ShownHow,
  type TimelineClock,
  type ToWebrtcChild,
  type WebrtcStart,
} from "./webrtc-protocol.ts";

const CHILD = fileURLToPath(new URL("./webrtc-child.ts", import.meta.url));
/** Delays before a restart. After more deaths in quick succession, the next offer starts the child. */
const RESTART_MS = [0, 250, 1000, 5000];
const STEADY_MS = 30_000;
/** 8 s at 16 Mbit/s. A child this far behind gets no frames until it reads again. */
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;

/** The events of a peer. `closed` is the last one. */
export interface PeerHandler {
  /** The answer, whose candidates must be replaced: they contain internal addresses. */
  answered(sdp: string): void;
  connected(): void;
  closed(reason: string): void;
  /** A frame from a publisher. */
  frame(frame: MediaFrame): void;
  /** Statistics, about once a second. */
  report(report: PeerReport): void;
}

export interface Peer {
  /** `closed` is not called. */
  close(): void;
}

export interface ViewingPeer extends Peer {
  /** Switches to `source` at its next keyframe. */
  show(source: PeerSource, how: ShownHow): void;
}

/** The media for the viewers of one rendition. */
export interface PeerSource {
  readonly id: number;
  /** Returns false if the child is too far behind to accept it. */
  frame(frame: MediaFrame): boolean;
  /** Sets the wall-clock time of its frames. */
  setClock(clock: TimelineClock): void;
  watch(offer: string, plan: PeerPlan, handler: PeerHandler): ViewingPeer;
  close(): void;
}

/** Opens WebRTC connections. */
export interface WebrtcPeers {
  /** Call when a client is about to connect. */
  prepare(): void;
  openSource(): PeerSource;
  publish(offer: string, plan: PeerPlan, handler: PeerHandler): Peer;
}

export interface WebrtcProcessSettings extends WebrtcStart {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The process with all WebRTC connections, started for the first one. It is separate because native code parses packets from strangers there, and
 * may crash at any time. Its peers are then closed, and a new process accepts their reconnects.
 */
export class WebrtcProcess implements WebrtcPeers {
  readonly #settings: WebrtcProcessSettings;
  readonly #peers = new Map<number, PeerHandler>();
  /** By source: a new child needs them. */
  readonly #clocks = new Map<number, TimelineClock>();
  #child: PipedChild | null = null;
  #numbers = 0;
  #startedAt = 0;
  #deaths = 0;
  #restart: Timer | null = null;
  #isClosed = false;

  constructor(settings: WebrtcProcessSettings) {
    this.#settings = settings;
  }

  /** Pid of the child; 0 without one. */
  get pid(): number {
    return this.#child?.process.pid ?? 0;
  }

  get peerCount(): number {
    return this.#peers.size;
  }

  /** Starts the child early, because that takes a moment. */
  prepare(): void {
    if (!this.#child) this.#start();
  }

  openSource(): PeerSource {
    const source = ++this.#numbers;
    return {
      id: source,
      frame: (frame) => {
        if ((this.#child?.input.writableLength ?? 0) > MAX_BACKLOG_BYTES) return false;
        this.#send({ type: "frame", source, frame });
        return true;
      },
      setClock: (clock) => {
        this.#clocks.set(source, clock);
        this.#send({ type: "clock", source, clock });
      },
      watch: (offer, plan, handler) => {
        const { peer, close } = this.#open(handler, (number) =>
          this.#send({ type: "watch", peer: number, source, ...bare(offer, plan) }),
        );
        const show = ({ id }: PeerSource, how: ShownHow): void => {
          if (this.#peers.has(peer)) this.#send({ type: "show", peer, source: id, ...how });
        };
        return { close, show };
      },
      close: () => {
        this.#clocks.delete(source);
        this.#send({ type: "end-source", source });
      },
    };
  }

  publish(offer: string, plan: PeerPlan, handler: PeerHandler): Peer {
    return this.#open(handler, (peer) => this.#send({ type: "publish", peer, ...bare(offer, plan) }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#restart?.cancel();
    if (this.#child) await killed(this.#child);
  }

  #open(handler: PeerHandler, ask: (peer: number) => void): Peer & { readonly peer: number } {
    const peer = ++this.#numbers;
    this.#peers.set(peer, handler);
    this.prepare();
    ask(peer);
    return {
      peer,
      close: () => {
        if (this.#peers.delete(peer)) this.#send({ type: "close", peer });
      },
    };
  }

  #send(message: ToWebrtcChild): void {
    this.#child?.input.write(frameToWebrtcChild(message));
  }

  #start(): void {
    this.#restart?.cancel();
    if (this.#isClosed) return;
    const { clock, log, port, bindAddress, relayedPort = null } = this.#settings;
    const child = startPipedChild({ program: CHILD });
    const take = (message: FromWebrtcChild) => this.#take(message);
    takeMessages(child, { read: fromWebrtcChildReader(), take, log, name: "the WebRTC process" });
    killSilent(child, clock);
    child.ended.then(({ reason }) => this.#died(child, reason));
    this.#child = child;
    this.#startedAt = clock.monotonic();
    this.#send({ type: "start", start: { port, bindAddress, relayedPort } });
    for (const [source, clock] of this.#clocks) this.#send({ type: "clock", source, clock });
  }

  #take(message: FromWebrtcChild): void {
    if (message.type === "reports") {
      for (const report of message.reports) this.#peers.get(report.peer)?.report(report);
      return;
    }
    const handler = this.#peers.get(message.peer);
    if (message.type === "frame") handler?.frame(message.frame);
    else if (message.type === "answer") handler?.answered(message.sdp);
    else if (message.type === "connected") handler?.connected();
    else {
      this.#peers.delete(message.peer);
      handler?.closed(message.reason);
    }
  }

  #died(child: PipedChild, reason: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    const handlers = [...this.#peers.values()];
    this.#peers.clear();
    if (!this.#isClosed) {
      const { clock, log } = this.#settings;
      log.warn({ reason, peers: handlers.length }, "the WebRTC process died; its viewers and publishers connect again");
      const hasLived = clock.monotonic() - this.#startedAt >= STEADY_MS;
      this.#deaths = hasLived ? 0 : this.#deaths + 1;
      const ms = RESTART_MS[this.#deaths];
      if (ms !== undefined) this.#restart = clock.after(ms, () => this.#start());
    }
    for (const handler of handlers) handler.closed("the WebRTC process died");
  }
}

/**
 * Strips an offer to what the child needs. It needs no candidates, because clients send the first check; with them, any client could have the
 * server send checks to any address, and look up any name.
 */
function bare(offer: string, { video, audio, unused }: PeerPlan): Omit<PeerOffer, "peer"> {
  return { offer: withoutCandidates(offer), plan: { video, audio, unused } };
}
