import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Figures } from "../../components/figures.tsx";
import { countText, shareText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { audienceQuery, DIMENSIONS, type ViewDimension } from "./view-queries.ts";
import type { Range } from "./view-series.ts";

const text = strings.viewers.views;
const MAX_SHOWN = 10;

/** The largest groups of viewers: devices, systems, browsers or countries, each with its share of the views. */
export function AudienceList({ playbackId, range }: { readonly playbackId: string; readonly range: Range }) {
  const [dimension, setDimension] = useState<ViewDimension>("browser");
  const { data: groups = [] } = useQuery(audienceQuery(playbackId, range, dimension));
  const all = groups.reduce((sum, { viewCount }) => sum + viewCount, 0);
  return (
    <>
      <NativeSelect
        label={text.groupedBy}
        value={dimension}
        data={DIMENSIONS.map((value) => ({ value, label: text.dimensions[value] }))}
        onChange={(event) => setDimension(event.currentTarget.value as ViewDimension)}
      />
      {groups.length === 0 ? (
        <p className="quiet">{text.nobody}</p>
      ) : (
        <Figures
          figures={groups.slice(0, MAX_SHOWN).map(({ name, viewCount }) => ({
            name: name || text.unknown,
            value: `${countText(viewCount)} (${shareText(viewCount / all)})`,
          }))}
        />
      )}
    </>
  );
}
