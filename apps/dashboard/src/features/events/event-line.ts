import type { StreamEvent } from "@weir/contract";
import { bitrateText, frameRateText, ratioText, secondsText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { areaOf } from "./health-areas.ts";

/** `fatal`: a person has to act, or viewers have no renditions. `detail`: one measurement of many. */
export type EventLevel = "info" | "warning" | "fatal" | "detail";

/** One event as a line of the log. */
export interface EventLine {
  readonly level: EventLevel;
  readonly sentence: string;
}

type Of<T extends StreamEvent["type"]> = Extract<StreamEvent, { type: T }>;

const text = strings.events.lines;

/** The text of an event, as one sentence. For a type that this page does not know, the sentence names the type. */
export function lineOf(event: StreamEvent): EventLine {
  switch (event.type) {
    case "stream_state":
      return { level: "info", sentence: event.state.active ? text.started : text.stopped };
    case "transcode":
      return transcodeLine(event);
    case "media_server_metrics":
      return { level: "detail", sentence: measuredSentence(event) };
    case "stream_issue":
      return issueLine(event);
    case "webhook_event":
      return webhookLine(event);
    case "event_gap":
      return { level: "warning", sentence: text.gap(event.dropped) };
    default:
      return { level: "detail", sentence: text.other((event as { type: string }).type) };
  }
}

function transcodeLine({ segment, success, missing = [], attempts, latencyMs }: Of<"transcode">): EventLine {
  const name = String(segment.seqNo);
  if (!success) {
    return { level: "warning", sentence: text.failed(name, reasonOf(attempts)) };
  }
  if (missing.length > 0)
    return { level: "warning", sentence: text.partly(name, missing.join(", "), reasonOf(attempts)) };
  if (attempts.length > 1) return { level: "warning", sentence: text.retried(name, attempts.length) };
  const ratio = (segment.duration * 1000) / Math.max(1, latencyMs);
  return ratio < 1
    ? { level: "warning", sentence: text.slow(name, ratioText(ratio)) }
    : { level: "detail", sentence: text.transcoded(name, ratioText(ratio)) };
}

/** The reason of the last attempt that failed, as a sentence; empty without one. */
function reasonOf(attempts: Of<"transcode">["attempts"]): string {
  const reason = attempts.findLast(({ error }) => error !== null)?.error ?? "";
  const sentence = reason.charAt(0).toUpperCase() + reason.slice(1);
  return sentence === "" || /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

function issueLine({ code, state, sentence, evidence, remedy }: Of<"stream_issue">): EventLine {
  if (state === "closed") return { level: "info", sentence: text.solved(sentence) };
  const level = areaOf(code) === "transcoding" ? "fatal" : "warning";
  return { level, sentence: `${sentence} ${evidence} ${remedy}` };
}

function webhookLine({ event, payload }: Of<"webhook_event">): EventLine {
  const words = (text.webhook as Readonly<Record<string, string>>)[event] ?? event;
  const name = nameIn(payload);
  return {
    level: event.endsWith(".error") || event.endsWith(".failed") ? "warning" : "info",
    sentence: name === undefined ? `${words}.` : `${words}: ${name}.`,
  };
}

/** The target's name, where the event has one. */
function nameIn(payload: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const target = payload?.target;
  const name = typeof target === "object" && target !== null && "name" in target ? target.name : undefined;
  return typeof name === "string" ? name : undefined;
}

function measuredSentence({
  stats: { ingestRate, frameRate, keyframeIntervalMs },
}: Of<"media_server_metrics">): string {
  const measures = [
    ingestRate && bitrateText(ingestRate),
    frameRate && frameRateText(frameRate),
    keyframeIntervalMs && text.keyframes(secondsText(keyframeIntervalMs)),
  ].filter(Boolean);
  return measures.length > 0 ? text.measured(measures.join(", ")) : text.notMeasured;
}
