import { describe, expect, it } from "vitest";
import { type Delivery, nextDelivery, outcomeOf } from "./delivery-status.ts";

const HOUR = 3_600_000;
const due = (more: object = {}): Delivery => ({
  state: "due",
  attempts: 0,
  firstTriedAt: null,
  isLate: false,
  ...more,
});
const sending = (more: object = {}): Delivery => ({
  state: "sending",
  attempts: 1,
  firstTriedAt: 0,
  isLate: false,
  ...more,
});
const outcome = (is: "delivered" | "failed" | "hopeless", jitter = 0.5) =>
  ({ type: "outcome", outcome: is, jitter }) as const;

describe("a delivery", () => {
  it("that is sent counts the try and notes the first one's time", () => {
    expect(nextDelivery(due(), { type: "send" }, 7)).toEqual(sending({ firstTriedAt: 7 }));
    expect(nextDelivery(due({ attempts: 3, firstTriedAt: 7 }), { type: "send" }, 99)).toEqual(
      sending({ attempts: 4, firstTriedAt: 7 }),
    );
  });

  it.each([
    ["delivered", "delivered"],
    ["hopeless", "given-up"],
  ] as const)("that was %s is %s", (is, state) =>
    expect(nextDelivery(sending(), outcome(is), 10)).toMatchObject({ state }),
  );

  it.each([
    [1, 5_000],
    [2, 10_000],
    [5, 80_000],
    [10, 2_560_000],
  ])("that failed %i times waits %i ms", (attempts, at) =>
    expect(nextDelivery(sending({ attempts }), outcome("failed"), 0)).toMatchObject({ state: "due", attempts, at }),
  );

  it("waits a fifth more or less, so that many do not come at once", () => {
    expect(nextDelivery(sending(), outcome("failed", 0), 0).at).toBe(4_000);
    expect(nextDelivery(sending(), outcome("failed", 1), 0).at).toBe(6_000);
  });

  it("is tried in order when the hour is over, is late after that, and waits an hour at most", () => {
    const last = nextDelivery(sending({ attempts: 11 }), outcome("failed"), HOUR - 60_000);
    expect(last).toMatchObject({ isLate: false, at: HOUR });
    expect(nextDelivery(sending({ attempts: 12 }), outcome("failed"), HOUR)).toMatchObject({
      isLate: true,
      at: 2 * HOUR,
    });
    expect(nextDelivery(sending({ attempts: 20, isLate: true }), outcome("failed"), 5 * HOUR)).toMatchObject({
      isLate: true,
      at: 6 * HOUR,
    });
  });

  it("is given up when the next try would come after 24 hours", () => {
    expect(nextDelivery(sending({ attempts: 30, isLate: true }), outcome("failed"), 23.5 * HOUR)).toMatchObject({
      state: "given-up",
    });
  });

  it.each([
    [due(), outcome("delivered")],
    [sending(), { type: "send" }],
    [{ state: "delivered" }, { type: "send" }],
    [{ state: "given-up", why: "" }, outcome("failed")],
  ] as const)("%o cannot be told %o", (delivery, input) => expect(() => nextDelivery(delivery, input, 0)).toThrow());
});

it.each([
  [200, "delivered"],
  [204, "delivered"],
  [302, "hopeless"],
  [400, "hopeless"],
  [404, "hopeless"],
  [410, "hopeless"],
  [408, "failed"],
  [429, "failed"],
  [500, "failed"],
  [503, "failed"],
])("status %i is %s", (status, is) => expect(outcomeOf(status)).toBe(is));
