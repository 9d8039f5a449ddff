import type { Stream } from "@weir/contract";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { strings } from "../../shared/strings.ts";

const tones = { live: "live", reconnecting: "warning", idle: "quiet" } as const;

/** The stream's state in one word. */
export function StreamState({ stream }: { readonly stream: Stream }) {
  if (stream.suspended) return <StateLabel tone="held">{strings.streams.state.suspended}</StateLabel>;
  const { state } = stream.status;
  return <StateLabel tone={tones[state]}>{strings.streams.state[state]}</StateLabel>;
}
