/** The kinds of things that have events, webhooks and views. */
export type SubjectKind = "stream" | "asset" | "task";

/** Ids are random, so no two kinds share one: the id alone is the key of a row, and the kind says which table it refers to. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

export const streamSubject = (id: string): Subject => ({ kind: "stream", id });

/** A recording is an asset with the id of its session. */
export const assetSubject = (id: string): Subject => ({ kind: "asset", id });

export const taskSubject = (id: string): Subject => ({ kind: "task", id });
