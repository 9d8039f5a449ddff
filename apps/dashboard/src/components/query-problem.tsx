import { WeirError } from "@weir/client";
import { Note } from "./note.tsx";

/** Why a room has nothing new to show. A server that does not answer at all is the shell's to tell, once. */
export function QueryProblem({ error }: { readonly error: Error | null }) {
  if (error === null || (error instanceof WeirError && error.status === 0)) return null;
  return <Note tone="failure">{error.message}</Note>;
}
