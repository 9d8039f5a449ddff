import type { SrtGuest, SrtGuestHandler, SrtHost, SrtLinkReport } from "../../srt/index.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { SrtPublisher } from "./srt-publisher.ts";

export interface SrtIngestSettings {
  readonly publishing: PublishSettings;
  /** Processes that convert audio that is not AAC. */
  readonly children: TranscodeChildren;
}

/** Publishers over SRT: all callers of one port. How many there may be is a matter of `PublisherPlaces`. */
export class SrtIngest implements SrtHost {
  readonly #settings: SrtIngestSettings;
  /** Of all connections so far. */
  readonly packets = { received: 0, lost: 0, retransmitted: 0, late: 0 };
  #connections = 0;

  constructor(settings: SrtIngestSettings) {
    this.#settings = settings;
  }

  get connectionCount(): number {
    return this.#connections;
  }

  guest(guest: SrtGuest): SrtGuestHandler {
    const { publishing, children } = this.#settings;
    this.#connections++;
    const publisher = new SrtPublisher(guest, publishing, children, {
      reported: (report) => this.#count(report),
      over: () => this.#connections--,
    });
    publisher.begin();
    return publisher;
  }

  #count({ received, lost, retransmitted, dropped }: SrtLinkReport): void {
    this.packets.received += received;
    this.packets.lost += lost;
    this.packets.retransmitted += retransmitted;
    this.packets.late += dropped;
  }
}
