import type { Owner } from "../schema.ts";
import { streamSubject } from "../subject.ts";
import type { NewEvent } from "./event-log.ts";

/** An event in the log of a stream. */
export function streamEvent(
  { id, owner }: { readonly id: string; readonly owner: Owner },
  at: number,
  kind: NewEvent["kind"],
  body: NewEvent["body"],
): NewEvent {
  return { subject: streamSubject(id), owner, at, kind, body };
}
