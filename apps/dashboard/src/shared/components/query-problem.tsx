import { WeirError } from "@weir/client";
import { strings } from "../strings.ts";
import { Note } from "./note.tsx";

/** A note about why a page has nothing new to show. The shell reports an unreachable server, once for the whole page. */
export function QueryProblem({ error }: { readonly error: Error | null }) {
  if (error === null || (error instanceof WeirError && error.status === 0)) return null;
  return (
    <Note tone="failure" title={strings.app.notLoaded}>
      {error.message}
    </Note>
  );
}
