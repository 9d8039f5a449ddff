import { IllegalTransition } from "../illegal-transition.ts";

/*
 * due → sending → delivered | due(n+1, at) | given-up. A receiver that is down gets the same event again after 5 s, 10 s, 20 s … 1 h, for 24 h.
 * For the first hour newer events of the stream wait behind it. Then it leaves their lane, is marked late, and they continue.
 */

const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 3_600_000;
const IN_ORDER_MS = 3_600_000;
const GIVEN_UP_MS = 24 * 3_600_000;

/** The outcome of one call. `hopeless`: the receiver, or the server's own guard, would refuse the next call too. */
export type CallOutcome = "delivered" | "failed" | "hopeless";

export type Delivery =
  | { readonly state: "due"; readonly attempts: number; readonly firstTriedAt: number | null; readonly isLate: boolean }
  | { readonly state: "sending"; readonly attempts: number; readonly firstTriedAt: number; readonly isLate: boolean }
  | { readonly state: "delivered" }
  | { readonly state: "given-up"; readonly why: string };

export type DeliveryInput =
  | { readonly type: "send" }
  /** `jitter` is a number from 0 to 1. */
  | { readonly type: "outcome"; readonly outcome: CallOutcome; readonly jitter: number };

export type NextDelivery = Delivery & {
  /** When to retry; only for `due`. */
  readonly at?: number;
};

/** Throws `IllegalTransition` for an impossible transition. */
export function nextDelivery(delivery: Delivery, input: DeliveryInput, now: number): NextDelivery {
  if (delivery.state === "due" && input.type === "send") {
    const { attempts, firstTriedAt, isLate } = delivery;
    return { state: "sending", attempts: attempts + 1, firstTriedAt: firstTriedAt ?? now, isLate };
  }
  if (delivery.state !== "sending" || input.type !== "outcome") {
    throw new IllegalTransition("delivery", delivery.state, input.type);
  }
  const { attempts, firstTriedAt, isLate } = delivery;
  if (input.outcome === "delivered") return { state: "delivered" };
  if (input.outcome === "hopeless") return { state: "given-up", why: "the answer will not change" };
  const wait = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), MAX_WAIT_MS) * (0.8 + 0.4 * input.jitter);
  if (now + wait > firstTriedAt + GIVEN_UP_MS) return { state: "given-up", why: "24 hours of tries" };
  if (isLate || now >= firstTriedAt + IN_ORDER_MS) {
    return { state: "due", attempts, firstTriedAt, isLate: true, at: Math.round(now + wait) };
  }
  // The last attempt in order takes place when the hour ends, not later.
  const at = Math.round(Math.min(now + wait, firstTriedAt + IN_ORDER_MS));
  return { state: "due", attempts, firstTriedAt, isLate: false, at };
}

/** Status codes with which a server asks for a later retry. */
const HEALING = new Set([408, 425, 429]);

export function outcomeOf(status: number): CallOutcome {
  if (status >= 200 && status < 300) return "delivered";
  return status >= 500 || HEALING.has(status) ? "failed" : "hopeless";
}
