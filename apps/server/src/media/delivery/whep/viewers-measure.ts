import type { LinkMeasure, ViewersMeasure } from "../../../ports/index.ts";
import type { WhepViewer } from "./whep-viewer.ts";

/** Aggregated connection quality of a session's viewers since the last call; null without viewers. */
export function takeMeasure(viewers: ReadonlySet<Pick<WhepViewer, "link" | "isLowered">>): ViewersMeasure | null {
  if (viewers.size === 0) return null;
  const links = [...viewers].flatMap(({ link }) => link.take() ?? []);
  const roundTrips = links.flatMap(({ roundTripMs }) => roundTripMs ?? []).toSorted((a, b) => a - b);
  const sum = (of: (link: LinkMeasure) => number) => links.reduce((total, link) => total + of(link), 0);
  return {
    count: viewers.size,
    lowered: [...viewers].filter(({ isLowered }) => isLowered).length,
    roundTripMs: roundTrips[Math.floor(roundTrips.length / 2)] ?? null,
    fractionLost: sum(({ fractionLost }) => fractionLost) / Math.max(1, links.length),
    retransmits: sum(({ retransmits }) => retransmits),
  };
}
