import { withCandidates } from "@weir/formats/sdp";
import type { Clock } from "../../platform/clock.ts";
import { advertisedAddresses, type WebrtcAddress } from "./advertised-addresses.ts";
import { UNANSWERED } from "./webrtc-answers.ts";
import type { OfferAnswer, OfferRefusal, OfferRequest } from "./webrtc-offer.ts";
import type { Peer, PeerHandler } from "./webrtc-process.ts";
import { REJECTED_OFFER } from "./webrtc-protocol.ts";

/** The child answers within milliseconds, or half a second after it was started. */
const ANSWER_WITHIN_MS = 10_000;

/** It needs a millisecond of a core. */
const OVERLOADED = "the WebRTC process said nothing for 10 s, so this machine is overloaded";

/** From the answer until media can be sent. */
const CONNECT_WITHIN_MS = 30_000;

export interface PendingAnswerSettings {
  readonly clock: Clock;
  /** Of this server, for the answer's candidates. */
  readonly address: WebrtcAddress;
  /** Opens the peer. */
  readonly open: (handler: PeerHandler) => Peer;
  /**
   * Called once, for whatever reason the connection ended. `isWanted`: the client closed it. `unconnected`: why it never was a connection, in a sentence
   * for the log; null if it was one.
   */
  readonly onClosed: (reason: string, isWanted: boolean, unconnected: string | null) => void;
  readonly onFrame?: PeerHandler["frame"];
  readonly onReport?: PeerHandler["report"];
}

/** Opens a peer and waits for its answer. */
export function answerOffer(
  { req, offer }: Pick<OfferRequest, "req" | "offer">,
  settings: PendingAnswerSettings,
): Promise<OfferAnswer | OfferRefusal> {
  const { clock, address, open, onClosed } = settings;
  const { port } = address;
  const relayedPort = offer.candidateTypes.includes("relay") ? (address.relayedPort ?? null) : null;
  const addresses = advertisedAddresses(address, req);
  return new Promise((resolve) => {
    const ended = Promise.withResolvers<string>();
    let isClosed = false;
    let isAnswered = false;
    let isConnected = false;
    const close = (reason: string, isWanted: boolean): void => {
      if (isClosed) return;
      isClosed = true;
      deadline.cancel();
      const explain = () =>
        isAnswered ? explainUnconnected(reason, offer, addresses, port) : `a WebRTC offer was not answered: ${reason}`;
      onClosed(reason, isWanted, isConnected ? null : explain());
      ended.resolve(reason);
      resolve(reason.startsWith(REJECTED_OFFER) ? { status: 400, sentence: reason } : UNANSWERED);
    };
    let peer: Peer | null = null;
    const end = (reason: string, isWanted: boolean): void => {
      peer?.close();
      close(reason, isWanted);
    };
    let deadline = clock.after(ANSWER_WITHIN_MS, () => end(OVERLOADED, false));
    const handler: PeerHandler = {
      answered: (sdp) => {
        deadline.cancel();
        isAnswered = true;
        deadline = clock.after(CONNECT_WITHIN_MS, () => end("no connection within 30 s", false));
        resolve({
          sdp: withCandidates(sdp, addresses, relayedPort === null ? [port] : [relayedPort, port]),
          close: (isWanted) => end(isWanted ? "closed by its client" : "closed by the server", isWanted),
          ended: ended.promise,
        });
      },
      connected: () => {
        deadline.cancel();
        isConnected = true;
      },
      closed: (reason) => close(reason, false),
      frame: (frame) => settings.onFrame?.(frame),
      report: (report) => settings.onReport?.(report),
    };
    try {
      peer = open(handler);
    } catch (error) {
      close(`the connection could not be opened: ${error instanceof Error ? error.message : String(error)}`, false);
    }
  });
}

/** Explains why an answered connection was never established, and what the operator can do. */
function explainUnconnected(
  reason: string,
  { candidateTypes }: OfferRequest["offer"],
  addresses: readonly string[],
  port: number,
): string {
  const missing = ["host", "srflx", "relay"].filter((type) => !candidateTypes.includes(type));
  const theirs =
    missing.length > 0
      ? `the client offered no ${missing.join(" and no ")} candidates`
      : "the client offered all kinds of candidates";
  const ours = `this server offered ${addresses.join(", ") || "no address"} on UDP port ${port}`;
  return `WebRTC did not connect: ${reason}; ${theirs}, ${ours}. Set WEIR_WEBRTC_ADDRESS to the address that clients reach, and let UDP port ${port} through.`;
}
