import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Loading } from "../../shared/components/loading.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { countText, shareText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import classes from "./audience-panel.module.css";
import { sharesOf } from "./audience-shares.ts";
import { audienceQuery, DIMENSIONS, type ViewDimension } from "./view-queries.ts";
import type { Range } from "./view-series.ts";

const text = strings.viewers.views;

interface Props {
  /** One stream, recording or asset; the whole project where it is absent. */
  readonly playbackId?: string;
  readonly range: Range;
}

/** The views by device, system, browser or country, as bars. */
export function AudiencePanel({ playbackId, range }: Props) {
  const [dimension, setDimension] = useState<ViewDimension>("deviceType");
  const { data, error } = useQuery(audienceQuery(playbackId, range, dimension));
  const shares = sharesOf(dimension, data ?? []);
  return (
    <Panel
      title={text.audience}
      action={
        <NativeSelect
          aria-label={text.groupedBy}
          value={dimension}
          data={DIMENSIONS.map((value) => ({ value, label: text.dimensions[value] }))}
          onChange={(event) => setDimension(event.currentTarget.value as ViewDimension)}
        />
      }
    >
      <QueryProblem error={error} />
      {!data && !error && <Loading lines={3} />}
      {data && shares.length === 0 && <p className="quiet">{text.nobody}</p>}
      {dimension === "country" && shares.length > 0 && data?.every(({ name }) => name === "") && (
        <p className="quiet">{text.noCountries}</p>
      )}
      <dl className={classes.bars}>
        {shares.map(({ name, viewCount, share }) => (
          <div key={name} className={classes.group}>
            <dt>{name}</dt>
            <dd>
              {countText(viewCount)} <span className="quiet">{shareText(share)}</span>
            </dd>
            <span className={classes.bar} style={{ width: `${share * 100}%` }} aria-hidden />
          </div>
        ))}
      </dl>
    </Panel>
  );
}
