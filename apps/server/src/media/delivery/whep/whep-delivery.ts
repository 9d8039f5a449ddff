import type { Clock, Timer } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { Log } from "../../../platform/log.ts";
import type { LadderResources } from "../../ladder/live-ladder.ts";
import { TICKS_PER_SECOND } from "../../packet.ts";
import { advertisedAddresses } from "../../webrtc/advertised-addresses.ts";
import { explainUnconnected } from "../../webrtc/explain-unconnected.ts";
import { answerOffer } from "../../webrtc/pending-answer.ts";
import type { OfferAnswer, OfferRefusal, OfferRequest, OfferTaker } from "../../webrtc/webrtc-endpoint.ts";
import type { WebrtcPeers } from "../../webrtc/webrtc-process.ts";
import type { Refusal, Viewing } from "../viewers/admission.ts";
import type { Admissions } from "../viewers/admissions.ts";
import { WhepFeed } from "./whep-feed.ts";
import type { WebrtcAddress, WhepSession, WhepSessions } from "./whep-session.ts";

/** Interval at which viewers' access is checked: a revoked viewer is disconnected within 10 s. */
const LOOK_MS = 4_000;
/** How long a feed is kept after its last viewer left, who may only be reloading the page. */
const KEEP_FEED_MS = 5_000;
const TRACKS_WITHIN_MS = 1_000;
const TRACKS_LOOK_MS = 50;
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
}

interface Watcher {
  readonly playbackId: string;
  readonly viewing: Viewing;
  readonly close: () => void;
}

/** WHEP: admits viewers with the same gate as HLS, and sends a live session's video and audio by WebRTC. */
export class WhepDelivery implements OfferTaker {
  readonly #settings: WhepDeliverySettings;
  readonly #feeds = new Map<string, WhepFeed>();
  readonly #watchers = new Set<Watcher>();
  readonly #timer: Timer;

  constructor(settings: WhepDeliverySettings) {
    this.#settings = settings;
    this.#timer = settings.clock.every(LOOK_MS, () => this.#lookAt(() => true));
  }

  get viewerCount(): number {
    return this.#watchers.size;
  }

  /** Access rules changed: viewers of this playback id, or all, are checked immediately. */
  accessChanged(playbackId: string | "all"): void {
    this.#lookAt((watcher) => playbackId === "all" || watcher.playbackId === playbackId);
  }

  close(): void {
    this.#timer.cancel();
    for (const feed of this.#feeds.values()) feed.close();
  }

  async offer(request: OfferRequest): Promise<OfferAnswer | OfferRefusal> {
    const { name: playbackId, req, url } = request;
    if (!PLAYBACK_ID.test(playbackId)) return DENIED;
    const { admissions, sessions } = this.#settings;
    const admission = await admissions.admit({ req, url, playbackId, protocol: "whep", token: null, step: "open" });
    if (typeof admission === "string") return refusals[admission];
    const session = admission.content.kind === "live" ? sessions.sessionOf(playbackId) : undefined;
    if (!session || session.isFinished) return OFFLINE;
    const feed = this.#feedOf(session);
    feed.enter();
    await this.#tracksOf(feed);
    const { refusal } = feed;
    const viewing = refusal === null ? admission.countViewer() : null;
    if (viewing) {
      const answer = await this.#answer(request, session.sessionId, feed, viewing);
      if ("status" in answer) return answer;
      return { ...answer, playheadMs: Math.round((session.pipeline.position.endTicks * 1000) / TICKS_PER_SECOND) };
    }
    this.#leave(session.sessionId, feed);
    return refusal === null ? DENIED : { status: 406, sentence: refusal };
  }

  #answer(
    { name: playbackId, req, sdp, offer }: OfferRequest,
    sessionId: string,
    feed: WhepFeed,
    viewing: Viewing,
  ): Promise<OfferAnswer | OfferRefusal> {
    const { clock, log, address } = this.#settings;
    const { remoteAddress } = req.socket;
    const addresses = advertisedAddresses(address.addresses, address.host, req);
    let isConnected = false;
    let watcher: Watcher | null = null;
    return answerOffer({
      ...{ clock, addresses, port: address.port },
      open: (handler) => {
        const peer = feed.watch(sdp, offer, handler);
        const close = (): void => {
          peer.close();
          handler.closed("access revoked");
        };
        watcher = { playbackId, viewing, close };
        this.#watchers.add(watcher);
        return peer;
      },
      onConnected: () => {
        isConnected = true;
      },
      onClosed: (reason) => {
        if (watcher) this.#watchers.delete(watcher);
        this.#leave(sessionId, feed);
        const text = `a WebRTC viewer left: ${reason}`;
        if (isConnected) log.debug({ playbackId, remoteAddress }, text);
        else log.info({ playbackId, remoteAddress }, explainUnconnected(reason, offer, addresses, address.port));
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

  /** Waits for the tracks of a session that has just started. */
  #tracksOf(feed: WhepFeed): Promise<void> {
    const { clock } = this.#settings;
    return new Promise((resolve) => {
      const look = (waitedMs: number): void => {
        if (feed.isDecided || waitedMs >= TRACKS_WITHIN_MS) resolve();
        else clock.after(TRACKS_LOOK_MS, () => look(waitedMs + TRACKS_LOOK_MS));
      };
      look(0);
    });
  }

  #lookAt(isConcerned: (watcher: Watcher) => boolean): void {
    for (const watcher of this.#watchers) {
      if (!isConcerned(watcher)) continue;
      watcher.viewing.stillAllowed().then(
        (isAllowed) => isAllowed || watcher.close(),
        () => watcher.close(),
      );
    }
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
