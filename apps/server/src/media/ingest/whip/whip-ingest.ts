import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import type { WebrtcAddress } from "../../webrtc/advertised-addresses.ts";
import { answerOffer } from "../../webrtc/pending-answer.ts";
import type { OfferAnswer, OfferRefusal, OfferRequest, OfferTaker } from "../../webrtc/webrtc-offer.ts";
import type { WebrtcPeers } from "../../webrtc/webrtc-process.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { WhipPublisher } from "./whip-publisher.ts";

export interface WhipIngestSettings {
  readonly publishing: PublishSettings;
  readonly proxies: TrustedProxies;
  readonly peers: WebrtcPeers;
  readonly address: WebrtcAddress;
  /** Processes that convert Opus to AAC. */
  readonly children: TranscodeChildren;
}

/** WHIP: an offer with a sendonly section publishes to the stream of its key. */
export class WhipIngest implements OfferTaker {
  readonly #settings: WhipIngestSettings;

  constructor(settings: WhipIngestSettings) {
    this.#settings = settings;
  }

  async offer(request: OfferRequest): Promise<OfferAnswer | OfferRefusal> {
    const { name: streamKey, req, sdp, offer } = request;
    const { publishing, proxies, peers, address, children } = this.#settings;
    const { clock, log } = publishing;
    const remoteAddress = proxies.addressOf(req);
    const publisher = new WhipPublisher({ remoteAddress, client: proxies.clientOf(req) }, publishing, children);
    const refusal = await publisher.admit(streamKey);
    if (refusal) return refusal;
    const answer = await answerOffer(request, {
      clock,
      address,
      open: (handler) => {
        const peer = peers.publish(sdp, offer, handler);
        publisher.attach(() => {
          peer.close();
          handler.closed("closed by the server");
        });
        return peer;
      },
      onFrame: (frame) => publisher.frame(frame),
      onReport: (report) => publisher.report(report),
      onClosed: (reason, isWanted, unconnected) => {
        publisher.gone(reason, isWanted);
        if (unconnected !== null) log.info({ remoteAddress }, unconnected);
      },
    });
    return "status" in answer ? answer : { ...answer, refusal: () => publisher.refusal };
  }
}
