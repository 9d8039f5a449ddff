import type { Stream } from "@weir/contract";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { absoluteMoment, relativeMoment } from "../../shared/lib/moments.ts";
import { useNow } from "../../shared/lib/now.ts";
import { clockText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { StreamState } from "./stream-state.tsx";

const text = strings.streams.page;

/** The state with its clock: "Live 00:42:10", "Reconnecting, 12 s left", "Idle, last seen 2 hours ago". */
export function StreamClock({ stream }: { readonly stream: Stream }) {
  const now = useNow();
  const { state, since, reconnectUntil } = stream.status;
  if (stream.suspended) return <StreamState stream={stream} />;
  if (state === "live") return <StateLabel tone="live">{text.live(clockText((now - since) / 1000))}</StateLabel>;
  if (state === "reconnecting") {
    const left = Math.max(0, Math.ceil(((reconnectUntil ?? now) - now) / 1000));
    return <StateLabel tone="warning">{text.reconnecting(left)}</StateLabel>;
  }
  if (stream.lastSeen === 0) return <StateLabel tone="quiet">{text.idleNew}</StateLabel>;
  return (
    <span title={absoluteMoment(stream.lastSeen)}>
      <StateLabel tone="quiet">{text.idleSince(relativeMoment(stream.lastSeen, now))}</StateLabel>
    </span>
  );
}
