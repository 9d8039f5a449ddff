import { messageFrame, messageHead, messageReader, messageTaker } from "../../platform/pipe-frames.ts";
import type { TimelinePosition } from "../../ports/index.ts";
import type { PartTiming, SegmentPlace } from "../packaging/live-segment.ts";
import type { Track } from "../packet.ts";

/** A rendition as its owner offers it. */
export interface OfferedRendition {
  readonly name: string;
  readonly track: Track;
  readonly plannedBps?: number;
  readonly plannedFps?: number;
  readonly targetSeconds: number;
  /** Null while undecided. */
  readonly partSeconds: number | null;
  readonly holdBackSeconds: number;
}

/** What a copy of a rendition begins with. */
export interface RenditionBegin {
  readonly name: string;
  /** Discontinuities that left its list before the first segment that follows. */
  readonly discontinuitySequence: number;
  readonly firstMsn: number | null;
  readonly peakBps: number;
  readonly frameRate: number | null;
}

/** A place without its init segment, which goes by name. */
export interface SentPlace extends Omit<SegmentPlace, "init"> {
  readonly init: string | null;
}

/**
 * What the owner of a live session tells a node that follows it: version 1. A reader skips kinds that it does not know. The media of a part or an init
 * segment is in `data`.
 */
export type WindowMessage =
  /** First, to a successor: where the session goes on. */
  | { readonly kind: "position"; readonly position: TimelinePosition }
  | { readonly kind: "session"; readonly sessionId: string; readonly playbackId: string }
  | { readonly kind: "rendition"; readonly begin: RenditionBegin }
  /** All that viewers may choose from, in the order of the multivariant playlist. */
  | { readonly kind: "offered"; readonly renditions: readonly OfferedRendition[] }
  | {
      readonly kind: "init";
      readonly of: string;
      readonly name: string;
      readonly track: Track;
      readonly timescale: number;
      readonly data: Uint8Array;
    }
  | { readonly kind: "begin"; readonly of: string; readonly place: SentPlace }
  | { readonly kind: "part"; readonly of: string; readonly timing: PartTiming; readonly data: Uint8Array }
  | { readonly kind: "complete"; readonly of: string; readonly msn: number }
  | { readonly kind: "gap"; readonly of: string; readonly place: SentPlace; readonly durationTicks: number }
  | { readonly kind: "expect"; readonly of: string; readonly msn: number | null }
  /** Once, behind the window as it was: what follows is new. */
  | { readonly kind: "whole" }
  /** Playlists end. */
  | { readonly kind: "end" }
  /** Another node has the session now. */
  | { readonly kind: "moved" }
  /** Sent where nothing else is, so that silence means that the owner is away. */
  | { readonly kind: "beat" };

type Headed<Message> = Message extends { readonly data: Uint8Array } ? Omit<Message, "data"> : Message;

/** The largest part, with a margin for its JSON. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export function windowFrame(message: Headed<WindowMessage>, data?: readonly Uint8Array[]): Uint8Array {
  return messageFrame(plain(message), data);
}

/** A part's frame without its media, which the caller sends behind it. */
export function partHead(of: string, timing: PartTiming, dataBytes: number): Uint8Array {
  const { durationTicks, lateTicks, frames, isIndependent } = timing;
  return messageHead({ kind: "part", of, timing: { durationTicks, lateTicks, frames, isIndependent } }, dataBytes);
}

/** As `messageReader`. Throws for bytes that are no message. */
export function windowReader(): (bytes: Uint8Array) => WindowMessage[] {
  const read = messageReader<unknown>(MAX_MESSAGE_BYTES);
  return (bytes) => read(bytes).map((message) => revived(message) as WindowMessage);
}

/** As `messageTaker`: a part's media is copied out of what came once, by whoever takes it. Throws for bytes that are no message. */
export function windowTaker(take: (message: WindowMessage) => void): (bytes: Uint8Array) => void {
  return messageTaker((message) => take(revived(message) as WindowMessage), MAX_MESSAGE_BYTES);
}

/** JSON has no bytes: the configuration of a track goes as base64. */
function plain(message: Headed<WindowMessage>): unknown {
  if (message.kind === "init") return { ...message, track: plainTrack(message.track) };
  if (message.kind !== "offered") return message;
  return {
    ...message,
    renditions: message.renditions.map((offered) => ({ ...offered, track: plainTrack(offered.track) })),
  };
}

const plainTrack = (track: Track) => ({ ...track, config: Buffer.from(track.config).toString("base64") });

type PlainTrack = ReturnType<typeof plainTrack>;

function revived(message: unknown): unknown {
  const { kind, track, renditions } = message as {
    kind: string;
    track: PlainTrack;
    renditions: { track: PlainTrack }[];
  };
  if (kind === "init") return { ...(message as object), track: revivedTrack(track) };
  if (kind !== "offered") return message;
  return { kind, renditions: renditions.map((offered) => ({ ...offered, track: revivedTrack(offered.track) })) };
}

const revivedTrack = (track: PlainTrack) => ({ ...track, config: Buffer.from(track.config, "base64") });
