import { WeirError } from "@weir/client";
import type { ReactNode } from "react";
import { Loading } from "./loading.tsx";
import { Note } from "./note.tsx";
import { QueryProblem } from "./query-problem.tsx";

interface Props<Thing> {
  readonly query: { readonly data: Thing | undefined; readonly error: Error | null };
  /** Said when there is no such thing, or no longer. */
  readonly gone: { readonly title: string; readonly body: string };
  /** The way to the others of its kind. */
  readonly all: ReactNode;
  readonly children: (thing: Thing) => ReactNode;
}

/** The page of one thing. A refresh that fails leaves the page as it is, with a note; only a thing that is gone replaces it. */
export function PageOfOne<Thing>({ query: { data, error }, gone, all, children }: Props<Thing>) {
  if (error instanceof WeirError && error.status === 404) {
    return (
      <Note tone="warning" title={gone.title}>
        {gone.body} {all}
      </Note>
    );
  }
  return (
    <>
      <QueryProblem error={error} />
      {data !== undefined && children(data)}
      {data === undefined && error === null && <Loading lines={6} />}
    </>
  );
}
