import type { MediaServerMetricsEvent, StreamEvent } from "@weir/contract";
import { shareText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import classes from "./health-charts.module.css";

const text = strings.health.links;

type Webrtc = NonNullable<MediaServerMetricsEvent["stats"]["webrtc"]>;
type Link = NonNullable<Webrtc["publisher"]>;

/** How well the newest measure says that SRT and WebRTC carry the stream: from its publisher, and to its viewers. Nothing where nobody uses them. */
export function ConnectionLinks({ events }: { readonly events: readonly StreamEvent[] }) {
  const newest = events.findLast((event) => event.type === "media_server_metrics" || event.type === "stream_state");
  if (newest?.type !== "media_server_metrics") return null;
  const { webrtc: { publisher, viewers } = {}, srt } = newest.stats;
  if (!publisher && !viewers && !srt) return null;
  return (
    <ul className={classes.rungs} aria-label={text.title} title={text.hint}>
      {srt && (
        <li>
          <strong>{text.srtPublisher}</strong>
          <span className="quiet">
            {[linkText(srt), text.late(srt.latePackets), text.latency(srt.latencyMs)].join(" · ")}
          </span>
        </li>
      )}
      {publisher && (
        <li>
          <strong>{text.publisher}</strong>
          <span className="quiet">{linkText(publisher)}</span>
        </li>
      )}
      {viewers && (
        <li>
          <strong>{text.viewers(viewers.count)}</strong>
          <span className="quiet">{[linkText(viewers), ...loweredText(viewers.lowered)].join(" · ")}</span>
        </li>
      )}
    </ul>
  );
}

function linkText({ roundTripMs, fractionLost, retransmits }: Link): string {
  const roundTrip = roundTripMs === undefined ? [] : [text.roundTrip(Math.round(roundTripMs))];
  return [...roundTrip, text.lost(shareText(fractionLost)), text.retransmits(retransmits)].join(" · ");
}

function loweredText(lowered: number): string[] {
  return lowered > 0 ? [text.lowered(lowered)] : [];
}
