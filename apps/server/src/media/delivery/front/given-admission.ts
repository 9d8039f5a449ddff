import type { LiveContent } from "../../../ports/index.ts";

/** A request's admission by another node of this server, which asked its gate: this one asks nobody, and counts the viewer. */
export interface GivenAdmission {
  /** It holds for no other content. */
  readonly playbackId: string;
  readonly content: Omit<LiveContent, "place" | "onlyWhileWatched">;
  /** Of the viewer session, which this node restores; `NOBODY` for public content. */
  readonly token: string;
  /** Nobody has counted the viewer of the session as new yet. */
  readonly isNew: boolean;
  readonly isFull: boolean;
  readonly isShared: boolean;
}

/** A viewer on the way to another node. */
export interface HandOver {
  /** The `GivenAdmission` as a header: ids and tokens are ASCII. */
  readonly admitted: string;
  /** The other node has answered, and counted the viewer. */
  counted(): void;
}

/** From a header that another node has sealed. Null if it gives no admission. */
export function readGiven(text: string | null): GivenAdmission | null {
  return text === null ? null : (JSON.parse(text) as GivenAdmission);
}
