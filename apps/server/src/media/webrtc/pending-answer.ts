import { withCandidates } from "@weir/formats/sdp";
import type { Clock } from "../../platform/clock.ts";
import type { OfferAnswer, OfferRefusal } from "./webrtc-endpoint.ts";
import type { Peer, PeerHandler } from "./webrtc-process.ts";
import { REJECTED_OFFER } from "./webrtc-protocol.ts";

/** The child answers within milliseconds, or half a second after it was started. */
const ANSWER_WITHIN_MS = 10_000;

/** From the answer until media can be sent. */
const CONNECT_WITHIN_MS = 30_000;

const UNANSWERED: OfferRefusal = {
  status: 503,
  sentence: "The offer cannot be answered right now. Try again in a moment.",
};

export interface PendingAnswerSettings {
  readonly clock: Clock;
  /** This server's addresses for the answer's candidates. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Opens the peer. */
  readonly open: (handler: PeerHandler) => Peer;
  readonly onConnected: () => void;
  /** Called once, for whatever reason the connection ended. `isWanted`: the client closed it. */
  readonly onClosed: (reason: string, isWanted: boolean) => void;
  readonly onFrame?: PeerHandler["frame"];
  readonly onReport?: PeerHandler["report"];
}

/** Opens a peer and waits for its answer. */
export function answerOffer(settings: PendingAnswerSettings): Promise<OfferAnswer | OfferRefusal> {
  const { clock, addresses, port, open, onConnected, onClosed } = settings;
  return new Promise((resolve) => {
    const ended = Promise.withResolvers<string>();
    let isClosed = false;
    const close = (reason: string, isWanted: boolean): void => {
      if (isClosed) return;
      isClosed = true;
      deadline.cancel();
      onClosed(reason, isWanted);
      ended.resolve(reason);
      resolve(reason.startsWith(REJECTED_OFFER) ? { status: 400, sentence: reason } : UNANSWERED);
    };
    const end = (reason: string, isWanted: boolean): void => {
      peer.close();
      close(reason, isWanted);
    };
    let deadline = clock.after(ANSWER_WITHIN_MS, () => end("no answer within 10 s", false));
    const peer = open({
      answered: (sdp) => {
        deadline.cancel();
        deadline = clock.after(CONNECT_WITHIN_MS, () => end("no connection within 30 s", false));
        resolve({
          sdp: withCandidates(sdp, addresses, port),
          close: (isWanted) => end(isWanted ? "closed by its client" : "closed by the server", isWanted),
          ended: ended.promise,
        });
      },
      connected: () => {
        deadline.cancel();
        onConnected();
      },
      closed: (reason) => close(reason, false),
      frame: (frame) => settings.onFrame?.(frame),
      report: (report) => settings.onReport?.(report),
    });
  });
}
