import { expect, test } from "vitest";
import type { TargetChanged } from "../../ports/index.ts";
import type { TargetState } from "../target-state.ts";
import { endTargets, nextTargetStates, targetEvents, targetStatus } from "./target-states.ts";

const target = { id: "t", name: "Twitch", profile: "source" };
const other = { ...target, profile: "360p0" };
const stream = { id: "s", owner: { projectId: "p", userId: "u" } };
const reason = "The target closed the connection.";

function changed(change: Partial<TargetChanged>): TargetChanged {
  const fact = { type: "target-changed", streamId: "s", sessionId: "e", epoch: 1, at: 2_000 } as const;
  return { ...fact, target, state: "online", reason: null, told: null, ...change };
}
const known = (change: Partial<TargetState>): TargetState => ({
  target,
  state: "online",
  reason: null,
  since: 1_000,
  ...change,
});

test.each<[string, TargetState[], Partial<TargetChanged>, TargetState[]]>([
  ["a target begins", [], { state: "pending" }, [known({ state: "pending", since: 2_000 })]],
  [
    "another attempt keeps since when it is pending",
    [known({ state: "pending" })],
    { state: "pending", reason },
    [known({ state: "pending", reason })],
  ],
  [
    "another rendition is another target",
    [known({})],
    { target: other },
    [known({}), known({ target: other, since: 2_000 })],
  ],
  ["a removed one is forgotten", [known({}), known({ target: other })], { state: "idle" }, [known({ target: other })]],
  [
    "one that was given up is not",
    [known({ state: "offline", reason })],
    { state: "idle" },
    [known({ state: "offline", reason })],
  ],
])("%s", (_what, before, change, after) => {
  expect(nextTargetStates(before, changed(change))).toEqual(after);
});

test("events tell which target, why it failed, and whether it is tried again", () => {
  const told = (change: Partial<TargetChanged>) => targetEvents(stream, changed(change)).map(({ body }) => body);
  expect(told({})).toEqual([]);
  expect(told({ told: "connected" })).toMatchObject([
    { type: "webhook_event", event: "multistream.connected", userId: "u", payload: { target } },
  ]);
  expect(told({ told: "error", state: "pending", reason })).toMatchObject([
    { event: "multistream.error", payload: { target, reason, willRetry: true } },
  ]);
  expect(told({ told: "error", state: "offline", reason })).toMatchObject([{ payload: { reason, willRetry: false } }]);
});

test("the end of a session disconnects what was not given up", () => {
  const events = endTargets(stream, [known({}), known({ target: other, state: "offline", reason })], 3_000);
  expect(events).toMatchObject([{ at: 3_000, body: { event: "multistream.disconnected", payload: { target } } }]);
  expect(events).toHaveLength(1);
});

test("a stream shows each of its targets, and as idle what nothing is known of", () => {
  const states = [known({ state: "offline", reason })];
  expect(targetStatus(states, "t", "source")).toEqual({ state: "Offline", since: 1_000, reason });
  expect(targetStatus(states, "t", "360p0")).toEqual({ state: "Idle" });
  expect(targetStatus(null, "t", "source")).toEqual({ state: "Idle" });
});
