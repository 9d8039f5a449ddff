import { describe, expect, it } from "vitest";
import { nextStreamStatus, type SessionEffect, type StreamInput, type StreamState } from "./stream-status.ts";

const rows: [StreamState, StreamInput, StreamState, SessionEffect][] = [
  ["idle", "publish-accepted", "live", "begin"],
  ["idle", "clean-stop", "idle", "none"],
  ["idle", "source-lost", "idle", "none"],
  ["idle", "terminated", "idle", "none"],
  ["idle", "suspended", "idle", "none"],
  ["idle", "deleted", "idle", "none"],
  ["idle", "key-rotated", "idle", "none"],
  ["live", "clean-stop", "idle", "end"],
  ["live", "source-lost", "reconnecting", "hold"],
  ["live", "second-publisher", "live", "resume"],
  ["live", "terminated", "idle", "end"],
  ["live", "suspended", "idle", "end"],
  ["live", "deleted", "idle", "end"],
  ["live", "node-lost", "reconnecting", "hold"],
  ["live", "key-rotated", "reconnecting", "hold"],
  ["reconnecting", "publish-accepted", "live", "resume"],
  ["reconnecting", "source-back", "live", "none"],
  ["reconnecting", "clean-stop", "idle", "end"],
  ["reconnecting", "source-lost", "reconnecting", "none"],
  ["reconnecting", "window-over", "idle", "end"],
  ["reconnecting", "terminated", "idle", "end"],
  ["reconnecting", "suspended", "idle", "end"],
  ["reconnecting", "deleted", "idle", "end"],
  ["reconnecting", "node-lost", "reconnecting", "none"],
  ["reconnecting", "key-rotated", "reconnecting", "none"],
];

const illegal: [StreamState, StreamInput][] = [
  ["idle", "second-publisher"],
  ["idle", "source-back"],
  ["idle", "window-over"],
  ["idle", "node-lost"],
  ["live", "publish-accepted"],
  ["live", "source-back"],
  ["live", "window-over"],
  ["reconnecting", "second-publisher"],
];

describe("stream", () => {
  it.each(rows)("%s, %s: %s, session %s", (state, input, next, session) => {
    expect(nextStreamStatus(state, input)).toEqual({ state: next, session });
  });

  it.each(illegal)("%s, %s: no such way, and the error names both", (state, input) => {
    expect(() => nextStreamStatus(state, input)).toThrow(`stream: no way from "${state}" by "${input}"`);
  });
});
