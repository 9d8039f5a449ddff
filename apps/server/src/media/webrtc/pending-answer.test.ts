import { expect, test } from "vitest";
import { ManualClock } from "../../platform/clock.ts";
import { answerOffer } from "./pending-answer.ts";
import { REJECTED_OFFER } from "./webrtc-protocol.ts";

/** The answer to an offer whose peer closes at once. */
const closing = (reason: string) =>
  answerOffer({
    ...{ clock: new ManualClock(), addresses: ["192.0.2.1"], port: 1, onConnected: () => {}, onClosed: () => {} },
    open: (handler) => {
      queueMicrotask(() => handler.closed(reason));
      return { close: () => {} };
    },
  });

test("an offer that the library rejects is the client's fault, not that of the server", async () => {
  const sentence = `${REJECTED_OFFER}invalid candidate.`;
  expect(await closing(sentence)).toEqual({ status: 400, sentence });
  expect(await closing("the WebRTC process died")).toMatchObject({ status: 503 });
});
