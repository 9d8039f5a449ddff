import type { Offer } from "@weir/formats/sdp";
import type { Clock } from "../../../platform/clock.ts";
import { LinkMeter } from "../../webrtc/link-meter.ts";
import type { PeerHandler, ViewingPeer } from "../../webrtc/webrtc-process.ts";
import type { PeerReport } from "../../webrtc/webrtc-protocol.ts";
import { type QualityChoice, ViewerQuality } from "./viewer-quality.ts";
import { BEST, type WhepRungs } from "./whep-rungs.ts";

/** One WebRTC viewer of a session, with the rung that its network can carry. */
export class WhepViewer {
  readonly link = new LinkMeter();
  readonly #clock: Clock;
  readonly #rungs: WhepRungs;
  readonly #quality = new ViewerQuality(BEST);
  readonly #peer: ViewingPeer;
  readonly #handler: PeerHandler;
  readonly #onGone: (viewer: WhepViewer) => void;
  #given: QualityChoice = this.#quality.choice;
  #isGone = false;

  constructor(
    { clock, rungs, onGone }: { clock: Clock; rungs: WhepRungs; onGone: (viewer: WhepViewer) => void },
    sdp: string,
    plan: Offer,
    handler: PeerHandler,
  ) {
    this.#clock = clock;
    this.#rungs = rungs;
    this.#handler = handler;
    this.#onGone = onGone;
    this.#peer = rungs.enter(this.#given.name).watch(sdp, plan, {
      ...handler,
      report: (report) => this.#judge(report),
      closed: (reason) => {
        this.#leave();
        handler.closed(reason);
      },
    });
  }

  /** True if it gets less than the best rung. */
  get isLowered(): boolean {
    return this.#given.isKeyframesOnly || this.#given.name !== BEST;
  }

  /** Closes the viewer, on behalf of its client or the server. */
  close(): void {
    this.#leave();
    this.#peer.close();
  }

  /** Closes the viewer because the stream ended. */
  end(reason: string): void {
    this.close();
    this.#handler.closed(reason);
  }

  #judge(report: PeerReport): void {
    this.link.report(report);
    const given = this.#given;
    const chosen = this.#quality.judge(report, this.#rungs.list, this.#clock.monotonic());
    if (chosen === given || this.#isGone) return;
    this.#given = chosen;
    const source = this.#rungs.enter(chosen.name);
    this.#peer.show(source, { isKeyframesOnly: chosen.isKeyframesOnly, stopsBefore: this.#quality.isFalling });
    this.#rungs.leave(given.name);
  }

  #leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#rungs.leave(this.#given.name);
    this.#onGone(this);
  }
}
