import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import { advertisedAddresses } from "../../webrtc/advertised-addresses.ts";
import { explainUnconnected } from "../../webrtc/explain-unconnected.ts";
import { answerOffer } from "../../webrtc/pending-answer.ts";
import type { OfferAnswer, OfferRefusal, OfferRequest, OfferTaker } from "../../webrtc/webrtc-endpoint.ts";
import type { WebrtcPeers } from "../../webrtc/webrtc-process.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { WhipPublisher } from "./whip-publisher.ts";

export interface WhipIngestSettings {
  readonly publishing: PublishSettings;
  readonly proxies: TrustedProxies;
  readonly peers: WebrtcPeers;
  readonly address: { readonly addresses: readonly string[] | null; readonly host: string; readonly port: number };
  /** Processes that convert Opus to AAC. */
  readonly children: TranscodeChildren;
}

/** WHIP: an offer with a sendonly section publishes to the stream of its key. */
export class WhipIngest implements OfferTaker {
  readonly #settings: WhipIngestSettings;
  readonly #publishers = new Set<WhipPublisher>();

  constructor(settings: WhipIngestSettings) {
    this.#settings = settings;
  }

  get publisherCount(): number {
    return this.#publishers.size;
  }

  async offer({ name: streamKey, req, sdp, offer }: OfferRequest): Promise<OfferAnswer | OfferRefusal> {
    const { publishing, proxies, peers, address, children } = this.#settings;
    const { clock, log } = publishing;
    const remoteAddress = proxies.addressOf(req);
    const publisher = new WhipPublisher({ remoteAddress, client: proxies.clientOf(req) }, publishing, children);
    const refusal = await publisher.admit(streamKey);
    if (refusal) return refusal;
    this.#publishers.add(publisher);
    const addresses = advertisedAddresses(address.addresses, address.host, req);
    let isConnected = false;
    const answer = await answerOffer({
      ...{ clock, addresses, port: address.port },
      open: (handler) => {
        const peer = peers.publish(sdp, offer, handler);
        publisher.attach(() => {
          peer.close();
          handler.closed("closed by the server");
        });
        return peer;
      },
      onConnected: () => {
        isConnected = true;
      },
      onFrame: (frame) => publisher.frame(frame),
      onReport: (report) => publisher.report(report),
      onClosed: (reason, isWanted) => {
        this.#publishers.delete(publisher);
        publisher.gone(reason, isWanted);
        if (!isConnected) log.info({ remoteAddress }, explainUnconnected(reason, offer, addresses, address.port));
      },
    });
    return "status" in answer ? answer : { ...answer, refusal: () => publisher.refusal };
  }
}
