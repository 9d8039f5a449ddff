import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { answerOffer } from "./pending-answer.ts";
import type { OfferRequest } from "./webrtc-endpoint.ts";
import { REJECTED_OFFER } from "./webrtc-protocol.ts";

const OFFER = { offer: { candidateTypes: ["host"] } } as unknown as Pick<OfferRequest, "req" | "offer">;
const told: (string | null)[] = [];

/** The answer to an offer whose peer closes at once. */
const closing = (reason: string) =>
  answerOffer(OFFER, {
    clock: new ManualClock(),
    address: { addresses: ["192.0.2.1"], host: "localhost", port: 1 },
    onClosed: (_reason, _isWanted, unconnected) => void told.push(unconnected),
    open: (handler) => {
      queueMicrotask(() => handler.closed(reason));
      return { close: () => {} };
    },
  });

test("an offer that the library rejects is the client's fault, not that of the server", async () => {
  const sentence = `${REJECTED_OFFER}invalid candidate.`;
  expect(await closing(sentence)).toEqual({ status: 400, sentence });
  expect(await closing("the WebRTC process died")).toMatchObject({ status: 503 });
  expect(told.at(-1)).toBe(
    "WebRTC did not connect: the WebRTC process died; the client offered no srflx and no relay candidates, this server offered 192.0.2.1 on UDP port 1. Set WEIR_WEBRTC_ADDRESS to the address that clients reach, and let UDP port 1 through.",
  );
});
