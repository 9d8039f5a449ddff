import type { Profile } from "@weir/contract";
import { type Figure, Figures } from "../../shared/components/figures.tsx";
import { bitrateText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";

const text = strings.streams.ladder;

/** The rungs of a ladder, largest first, one a line. */
export function LadderFigures({ profiles }: { readonly profiles: readonly Profile[] }) {
  if (profiles.length === 0) return <p className="quiet">{text.sourceOnly}</p>;
  const figures = profiles.map(
    ({ name, width, height, bitrate }): Figure => ({
      name,
      value: `${text.size(width, height)} · ${bitrateText(bitrate / 8)}`,
    }),
  );
  return <Figures figures={figures.reverse()} />;
}
