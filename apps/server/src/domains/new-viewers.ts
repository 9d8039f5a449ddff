import type { Owner } from "./schema.ts";
import type { Subject } from "./subject.ts";

/** Viewers that started to watch one playback id. */
export interface NewViewers {
  readonly playbackId: string;
  /** The subject whose log reports them. */
  readonly subject: Subject;
  readonly owner: Owner;
  readonly viewerIds: readonly string[];
}
