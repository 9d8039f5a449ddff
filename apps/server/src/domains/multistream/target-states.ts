import type { TargetStatus } from "@weir/contract";
import type { ReportedTarget, TargetChanged } from "../../ports/index.ts";
import { type NewEvent, streamEvent } from "../events/index.ts";
import type { Owner } from "../schema.ts";
import type { TargetState } from "../target-state.ts";

/** The stream whose target it is. */
interface Forwarded {
  readonly id: string;
  readonly owner: Owner;
}

const isOf = ({ target: a }: { readonly target: ReportedTarget }, { target: b }: { readonly target: ReportedTarget }) =>
  a.id === b.id && a.profile === b.profile;

/** The states after a change. What was given up stays so until the session ends, also when the stream names it no longer. */
export function nextTargetStates(states: readonly TargetState[], change: TargetChanged): readonly TargetState[] {
  const { target, state, reason, at } = change;
  const before = states.find((known) => isOf(known, change));
  const others = states.filter((known) => known !== before);
  if (state === "idle") return before?.state === "offline" ? states : others;
  return [...others, { target, state, reason, since: before?.state === state ? before.since : at }];
}

/** The event of a change, if there is one to tell. */
export function targetEvents(stream: Forwarded, { told, target, state, reason, at }: TargetChanged): NewEvent[] {
  if (told === null) return [];
  const failure = told === "error" ? { reason, willRetry: state === "pending" } : {};
  return [targetEvent(stream, told, { target, ...failure }, at)];
}

/** The session is over: nothing is sent to its targets any more. */
export function endTargets(stream: Forwarded, states: readonly TargetState[], at: number): NewEvent[] {
  return states
    .filter(({ state }) => state !== "offline")
    .map(({ target }) => targetEvent(stream, "disconnected", { target }, at));
}

function targetEvent(
  stream: Forwarded,
  told: NonNullable<TargetChanged["told"]>,
  payload: Record<string, unknown>,
  at: number,
): NewEvent {
  const { userId } = stream.owner;
  return streamEvent(stream, at, "lifecycle", { type: "webhook_event", event: `multistream.${told}`, userId, payload });
}

const NAMES = { pending: "Pending", online: "Online", offline: "Offline" } as const;

/** How a stream shows one of its targets. */
export function targetStatus(states: readonly TargetState[] | null, id: string, profile: string): TargetStatus {
  const known = states?.find(({ target }) => target.id === id && target.profile === profile);
  if (!known) return { state: "Idle" };
  const { state, since, reason } = known;
  return { state: NAMES[state], since, ...(reason === null ? {} : { reason }) };
}
