import type { LinkMeasure } from "../../../ports/index.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import { LinkMeter } from "../../webrtc/link-meter.ts";
import type { OfferRefusal } from "../../webrtc/webrtc-offer.ts";
import type { MediaFrame, PeerReport } from "../../webrtc/webrtc-protocol.ts";
import { type Broadcaster, PublishConnection, type PublishWire } from "../publish-connection.ts";
import type { Refusal, RefusalCause } from "../publish-refusals.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { WhipToPackets } from "./whip-to-packets.ts";

const STATUS: Record<RefusalCause, OfferRefusal["status"]> = {
  "unknown-key": 401,
  suspended: 401,
  "too-many": 503,
  draining: 503,
  unavailable: 503,
  "out-of-turn": 400,
  "unsupported-request": 406,
  "unsupported-codec": 406,
  unreadable: 400,
  "let-go": 409,
};

const TOO_FAST: Refusal = {
  cause: "unreadable",
  sentence: "The timestamps of this stream run faster than real time. Send each picture when it is taken.",
};

/** A publish connection over WebRTC. RTP has no flow control, so a sender that is ahead of real time cannot be paused: it is disconnected. */
export class WhipPublisher implements PublishWire {
  readonly protocol = "whip";
  readonly #connection: PublishConnection;
  readonly #packets: WhipToPackets;
  readonly #decided = Promise.withResolvers<OfferRefusal | null>();
  readonly #link = new LinkMeter();
  #closePeer: (() => void) | null = null;
  #refusal: OfferRefusal | null = null;
  #isDestroyed = false;

  constructor(broadcaster: Broadcaster, settings: PublishSettings, children: TranscodeChildren) {
    this.#connection = new PublishConnection(this, broadcaster, settings);
    this.#packets = new WhipToPackets(this.#connection, { ...settings, children });
  }

  /** Null if the key may publish. */
  async admit(streamKey: string): Promise<OfferRefusal | null> {
    void this.#connection.publish(streamKey);
    const refusal = await this.#decided.promise;
    if (refusal) this.#connection.gone();
    return refusal;
  }

  /** Why the server closed it; null if it did not. */
  get refusal(): OfferRefusal | null {
    return this.#refusal;
  }

  /** Sets how its peer is closed. */
  attach(closePeer: () => void): void {
    this.#closePeer = closePeer;
    if (this.#isDestroyed) closePeer();
  }

  frame(frame: MediaFrame): void {
    if (!this.#connection.isPublishing) return;
    try {
      this.#packets.frame(frame);
    } catch (error) {
      this.#connection.fail(error);
    }
  }

  report(report: PeerReport): void {
    this.#link.report(report);
  }

  takeLink(): LinkMeasure | null {
    return this.#link.take();
  }

  /** The peer has closed. `isWanted`: the broadcaster closed it. */
  gone(reason: string, isWanted: boolean): void {
    if (isWanted) this.#connection.stop();
    else this.#connection.end("source-lost", reason);
    this.#connection.gone();
    this.#packets.close();
  }

  pause(): void {
    if (this.#connection.isPublishing) this.#connection.refuse(TOO_FAST);
  }

  resume(): void {}

  paceChanged(): void {}

  accept(): void {
    this.#decided.resolve(null);
  }

  refuse({ cause, sentence, mayReturn }: Refusal): void {
    this.#refusal = { status: mayReturn ? 503 : STATUS[cause], sentence };
    this.#decided.resolve(this.#refusal);
  }

  close(): void {
    this.destroy();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#decided.resolve({
      status: 503,
      sentence: "This server has reached its limit of publishers. Try again later.",
    });
    this.#packets.close();
    this.#closePeer?.();
  }
}
