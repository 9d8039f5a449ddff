import { IllegalTransition } from "../illegal-transition.ts";

/**
 * A stream's state. `idle`: nobody publishes. `live`: packets arrive. `reconnecting`: the source is away, and the session stays open until the
 * window ends. Inputs carry no epoch: stale ones are dropped earlier.
 */
export type StreamState = "idle" | "live" | "reconnecting";

export type StreamInput =
  | "publish-accepted"
  | "second-publisher"
  | "source-lost"
  | "source-back"
  | "clean-stop"
  | "window-over"
  | "node-lost"
  | "key-rotated"
  | "terminated"
  | "suspended"
  | "deleted";

/** The effect on the session: `begin` one, `resume` the open one, `hold` it open for the window, `end` it, or none. */
export type SessionEffect = "begin" | "resume" | "hold" | "end" | "none";

export interface StreamTransition {
  readonly state: StreamState;
  readonly session: SessionEffect;
}

const to = (state: StreamState, session: SessionEffect): StreamTransition => ({ state, session });
const ended = to("idle", "end");
const nothing = to("idle", "none");

const table: Record<StreamState, Partial<Record<StreamInput, StreamTransition>>> = {
  idle: {
    "publish-accepted": to("live", "begin"),
    // Before the first keyframe there is no session.
    "clean-stop": nothing,
    "source-lost": nothing,
    "key-rotated": nothing,
    terminated: nothing,
    suspended: nothing,
    deleted: nothing,
  },
  live: {
    "second-publisher": to("live", "resume"),
    "source-lost": to("reconnecting", "hold"),
    "node-lost": to("reconnecting", "hold"),
    "key-rotated": to("reconnecting", "hold"),
    "clean-stop": ended,
    terminated: ended,
    suspended: ended,
    deleted: ended,
  },
  reconnecting: {
    "publish-accepted": to("live", "resume"),
    "source-back": to("live", "none"),
    // The window goes on from the last packet.
    "source-lost": to("reconnecting", "none"),
    "node-lost": to("reconnecting", "none"),
    "key-rotated": to("reconnecting", "none"),
    "window-over": ended,
    "clean-stop": ended,
    terminated: ended,
    suspended: ended,
    deleted: ended,
  },
};

/** The transition table of a stream's lifecycle. Throws `IllegalTransition` for a pair that is not in it. */
export function nextStreamStatus(state: StreamState, input: StreamInput): StreamTransition {
  const next = table[state][input];
  if (!next) throw new IllegalTransition("stream", state, input);
  return next;
}

/** The API's `isActive`. */
export const isActive = (state: StreamState): boolean => state !== "idle";
