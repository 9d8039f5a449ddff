import type { Stream } from "@weir/contract";
import { Panel } from "../../components/panel.tsx";
import { strings } from "../../strings.ts";

const text = strings.streams.access;

/** Who may watch a stream. */
export function StreamAccess({ stream }: { readonly stream: Stream }) {
  return <Panel title={text.title}>{text.policies[stream.playbackPolicy?.type ?? "public"]}</Panel>;
}
