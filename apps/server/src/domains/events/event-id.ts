import { createHash } from "node:crypto";
import type { Subject } from "../subject.ts";

/** The content of an event's public id: its time and its position in the subject's log. */
export interface EventPosition {
  readonly at: number;
  readonly seq: number;
}

const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/;
const SEQ_BITS = 40n;
const SEQ_MASK = (1n << SEQ_BITS) - 1n;

/** 34 bits that identify the subject, so that two subjects never share an id and a foreign id is recognized. */
function subjectBits({ id }: Subject): bigint {
  return createHash("sha256").update(id).digest().readBigUInt64BE() >> 30n;
}

/**
 * A UUIDv7 (RFC 9562, 5.7) that carries the milliseconds, 34 bits of the subject and the sequence number. Resuming after an id therefore finds
 * the partition and the position without a lookup.
 */
export const eventId = (subject: Subject, position: EventPosition): string => eventIdsOf(subject)(position);

/** The same, for many events of one subject. */
export function eventIdsOf(subject: Subject): (position: EventPosition) => string {
  const bits = subjectBits(subject);
  return ({ at, seq }) => {
    const low = (0b10n << 62n) | ((bits & 0x3f_ffffn) << SEQ_BITS) | (BigInt(seq) & SEQ_MASK);
    const high = (BigInt(at) << 16n) | (7n << 12n) | (bits >> 22n);
    const hex = high.toString(16).padStart(16, "0") + low.toString(16).padStart(16, "0");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  };
}

/** The position that an id of this subject names; null for any other text. */
export function parseEventId(subject: Subject, id: string): EventPosition | null {
  const match = UUID.exec(id);
  if (!match) return null;
  const [, a = "", b = "", , d = "", e = ""] = match;
  const position = { at: Number.parseInt(a + b, 16), seq: Number(BigInt(`0x${d}${e}`) & SEQ_MASK) };
  return eventId(subject, position) === id ? position : null;
}
