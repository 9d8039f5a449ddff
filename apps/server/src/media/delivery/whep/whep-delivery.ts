import type { Clock } from "../../../platform/clock.ts";
import type { NodePlace, OtherNodes } from "../../../platform/cluster/index.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { Log } from "../../../platform/log.ts";
import type { LiveContent } from "../../../ports/index.ts";
import type { LadderResources } from "../../ladder/live-ladder.ts";
import { TICKS_PER_SECOND } from "../../packet.ts";
import type { WebrtcAddress } from "../../webrtc/advertised-addresses.ts";
import { answerOffer } from "../../webrtc/pending-answer.ts";
import type {
  OfferAnswer,
  OfferElsewhere,
  OfferRefusal,
  OfferRequest,
  ViewerTaker,
  WebrtcRequest,
} from "../../webrtc/webrtc-offer.ts";
import type { WebrtcPeers } from "../../webrtc/webrtc-process.ts";
import type { Admission, Refusal, Viewing } from "../front/admission.ts";
import type { Admissions } from "../front/admissions.ts";
import { readGiven } from "../front/given-admission.ts";
import { HttpAccess } from "../http/http-access.ts";
import { untilTracks } from "../until-tracks.ts";
import { WhepFeed } from "./whep-feed.ts";
import type { WhepSession, WhepSessions } from "./whep-session.ts";

/** How long a feed is kept after its last viewer left, who may only be reloading the page. */
const KEEP_FEED_MS = 5_000;
const PLAYBACK_ID = /^[a-z0-9]{4,64}$/;

export interface WhepDeliverySettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly proxies: TrustedProxies;
  readonly admissions: Pick<Admissions, "admit">;
  readonly sessions: WhepSessions;
  readonly peers: WebrtcPeers;
  readonly address: WebrtcAddress;
  readonly transcoding: LadderResources;
  /** Null where nodes do not reach each other. */
  readonly others: OtherNodes | null;
}

interface Admitted {
  readonly admission: Admission;
  readonly content: LiveContent;
  /** The live session, or the place of the node that has it. */
  readonly session: WhepSession | NodePlace;
}

/** WHEP: admits viewers with the same gate as HLS, and sends a live session's video and audio by WebRTC. */
export class WhepDelivery implements ViewerTaker {
  readonly #settings: WhepDeliverySettings;
  readonly #feeds = new Map<string, WhepFeed>();
  #viewerCount = 0;

  constructor(settings: WhepDeliverySettings) {
    this.#settings = settings;
  }

  get viewerCount(): number {
    return this.#viewerCount;
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.close();
  }

  async refusalOf(request: WebrtcRequest): Promise<OfferRefusal | null> {
    const admitted = await this.#admit(request, null);
    return "status" in admitted ? admitted : null;
  }

  async offer(request: OfferRequest): Promise<OfferAnswer | OfferRefusal | OfferElsewhere> {
    const admitted = await this.#admit(request, request.admitted);
    if ("status" in admitted) return admitted;
    const { admission, content, session } = admitted;
    if ("address" in session) return { place: session, viewer: admission.handOver(content) };
    const feed = this.#feedOf(session);
    feed.enter();
    await new Promise<void>((resolve) => untilTracks(this.#settings.clock, () => feed.isDecided, resolve));
    const { hasMedia, refusal } = feed;
    const viewing = hasMedia && refusal === null ? admission.countViewer() : null;
    if (viewing) {
      const answer = await this.#answer(request, session.sessionId, feed, viewing);
      if ("status" in answer) return answer;
      return { ...answer, playheadMs: Math.round((session.timeline.position.endTicks * 1000) / TICKS_PER_SECOND) };
    }
    this.#leave(session.sessionId, feed);
    // As for HLS: a player asks again after 404, and gives WebRTC up for good after 406.
    if (!hasMedia) return OFFLINE;
    return refusal === null ? DENIED : { status: 406, sentence: refusal };
  }

  /** An admitted viewer of a stream that is live, here or on another node. `by`: the node that admitted the viewer. */
  async #admit({ name: playbackId, req, url }: WebrtcRequest, by: string | null): Promise<Admitted | OfferRefusal> {
    if (!PLAYBACK_ID.test(playbackId)) return DENIED;
    const { admissions, proxies, sessions, others } = this.#settings;
    const address = { playbackId, protocol: "whep", token: null, step: "open" } as const;
    const given = readGiven(by);
    const admission = await admissions.admit(new HttpAccess(req, url, address, proxies, given));
    if (typeof admission === "string") return refusals[admission];
    const { content } = admission;
    if (content.kind !== "live") return OFFLINE;
    const session = sessions.sessionOf(playbackId);
    if (session && !session.isFinished && !session.isLeft) return { admission, content, session };
    const place = given ? null : others?.placeOf(content.streamId, content.place);
    if (place) return { admission, content, session: place };
    admission.missed();
    return OFFLINE;
  }

  #answer(
    request: OfferRequest,
    sessionId: string,
    feed: WhepFeed,
    viewing: Viewing,
  ): Promise<OfferAnswer | OfferRefusal> {
    const { name: playbackId, req, sdp, offer } = request;
    const { clock, log, address } = this.#settings;
    const { remoteAddress } = req.socket;
    let left: (() => void) | null = null;
    return answerOffer(request, {
      clock,
      address,
      open: (handler) => {
        const peer = feed.watch(sdp, offer, handler);
        const stopAsking = viewing.whileAllowed(() => {
          peer.close();
          handler.closed("access revoked");
        });
        this.#viewerCount++;
        left = () => {
          stopAsking();
          this.#viewerCount--;
        };
        return peer;
      },
      onClosed: (reason, _isWanted, unconnected) => {
        left?.();
        this.#leave(sessionId, feed);
        if (unconnected === null) log.debug({ playbackId, remoteAddress }, `a WebRTC viewer left: ${reason}`);
        else log.info({ playbackId, remoteAddress }, unconnected);
      },
    });
  }

  #feedOf(session: WhepSession): WhepFeed {
    const known = this.#feeds.get(session.sessionId);
    if (known) return known;
    const { clock, log, peers, transcoding } = this.#settings;
    const onOver = (): void => {
      if (this.#feeds.get(session.sessionId) === feed) this.#feeds.delete(session.sessionId);
    };
    const feed = new WhepFeed({ clock, log, peers, transcoding, session, onOver });
    this.#feeds.set(session.sessionId, feed);
    return feed;
  }

  #leave(sessionId: string, feed: WhepFeed): void {
    const release = (): void => {
      if (feed.viewers > 0) return;
      feed.close();
      if (this.#feeds.get(sessionId) === feed) this.#feeds.delete(sessionId);
    };
    if (feed.leave() === 0) this.#settings.clock.after(KEEP_FEED_MS, release);
  }
}

/** Unknown, deleted and gated content get the same response. The wording contains the keywords that public players look for. */
const DENIED: OfferRefusal = {
  status: 403,
  sentence: "Could not retrieve stream: Shutting down since this session is not allowed to view this stream",
};
const OFFLINE: OfferRefusal = { status: 404, sentence: "Could not retrieve stream: Stream open failed" };

const refusals: Record<Refusal, OfferRefusal> = {
  denied: DENIED,
  gone: OFFLINE,
  "invalid-credential": {
    status: 400,
    sentence: "The token or access key contains invalid characters: use printable UTF-8.",
  },
  "too-many": { status: 429, sentence: "Too many denied requests from this address: try again in a second." },
};
