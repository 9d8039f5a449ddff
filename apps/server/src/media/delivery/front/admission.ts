import type { LiveContent, PlaybackContent } from "../../../ports/index.ts";
import type { HandOver } from "./given-admission.ts";

/** Why a request is not admitted. Each protocol says it in its own words. */
export type Refusal = "denied" | "gone" | "invalid-credential" | "too-many";

/** The token in URLs without a viewer session. */
export const NOBODY = "-";

/** An allowed request. First find the requested content, then count the viewer, then respond. */
export interface Admission {
  readonly content: PlaybackContent;
  /** Only the URL identifies the viewer, so caches may serve the response to everyone who has the URL. */
  readonly isShared: boolean;
  /** For another node, which answers in place of this one and counts the viewer. Of live content only. */
  handOver(content: LiveContent): HandOver;
  /** Call when there is content to send. Null for a new viewer when the stream is full; then nothing is sent. */
  countViewer(): Viewing | null;
  /** Call when the stream is not live: a source that is pulled only while somebody watches is wanted. */
  missed(): void;
}

/** A counted viewer, as far as responses need it. */
export interface Viewing {
  /** The token for the URLs in the response, which work without credentials. */
  readonly token: string;
  /** The id that the player assigned to itself; null if the token identifies the viewer. */
  readonly playerId: string | null;
  /** Calls `end` once the viewer may no longer watch, and counts them as present until then. Returns the function to call when it is over anyway. */
  whileAllowed(end: () => void): () => void;
}
