import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { answerOffer } from "./pending-answer.ts";
import type { OfferRequest } from "./webrtc-offer.ts";
import type { PeerHandler } from "./webrtc-process.ts";
import { REJECTED_OFFER } from "./webrtc-protocol.ts";

const OFFER = { offer: { candidateTypes: ["host"] } } as unknown as Pick<OfferRequest, "req" | "offer">;
let told: (string | null)[] = [];

/** The answer to an offer, by what becomes of its peer. */
const answerBy = (become: (handler: PeerHandler) => void, clock = new ManualClock()) => {
  told = [];
  return answerOffer(OFFER, {
    clock,
    address: { addresses: ["192.0.2.1"], host: "localhost", port: 1 },
    onClosed: (_reason, _isWanted, unconnected) => void told.push(unconnected),
    open: (handler) => {
      queueMicrotask(() => become(handler));
      return { close: () => {} };
    },
  });
};

test("an offer that the library rejects is the client's fault, not that of the server", async () => {
  const sentence = `${REJECTED_OFFER}invalid candidate.`;
  expect(await answerBy(({ closed }) => closed(sentence))).toEqual({ status: 400, sentence });
  expect(await answerBy(({ closed }) => closed("the WebRTC process died"))).toMatchObject({ status: 503 });
});

test("the log says why an offer was not answered, and advises on the network only where it was", async () => {
  await answerBy(({ closed }) => closed("the WebRTC process died"));
  expect(told).toEqual(["a WebRTC offer was not answered: the WebRTC process died"]);
  const clock = new ManualClock();
  expect(await answerBy(() => clock.advance(10_000), clock)).toMatchObject({ status: 503 });
  expect(told).toEqual([expect.stringMatching(/not answered: .* this machine is overloaded$/)]);
  const sdp = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n";
  await answerBy(({ answered }) => answered(sdp), clock);
  clock.advance(30_000);
  expect(told).toEqual([
    "WebRTC did not connect: no connection within 30 s; the client offered no srflx and no relay candidates, this server offered 192.0.2.1 on UDP port 1. Set WEIR_WEBRTC_ADDRESS to the address that clients reach, and let UDP port 1 through.",
  ]);
});

test("a peer that cannot be opened is an offer that is not answered, and nothing of it is left to happen later", async () => {
  const clock = new ManualClock();
  const closed: string[] = [];
  const answer = await answerOffer(OFFER, {
    clock,
    address: { addresses: ["192.0.2.1"], host: "localhost", port: 1 },
    onClosed: (reason) => void closed.push(reason),
    open: () => {
      throw new Error("spawn ENOMEM");
    },
  });
  expect(answer).toMatchObject({ status: 503 });
  expect(() => clock.advance(60_000)).not.toThrow();
  expect(closed).toEqual([expect.stringContaining("ENOMEM")]);
});
