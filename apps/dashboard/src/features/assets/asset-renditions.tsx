import { useQuery } from "@tanstack/react-query";
import type { Asset, PlaybackSource } from "@weir/contract";
import { CopyButton } from "../../shared/components/copy-button.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import table from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { reachableAddress } from "../../shared/lib/local-addresses.ts";
import { bitrateText, bytesText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { useOwnerAddress } from "../preview/owner-preview.ts";
import classes from "./asset-panels.module.css";
import { renditionsQuery } from "./asset-queries.ts";

const text = strings.assets.page;

/** The MP4 of each quality, with its size and address. */
export function AssetRenditions({ asset }: { readonly asset: Asset }) {
  const playback = useQuery(renditionsQuery(asset.playbackId, asset.status.phase === "ready"));
  const files = (playback.data?.meta.source ?? [])
    .filter(({ hrn }) => hrn === "MP4")
    .map((source) => ({ ...source, id: source.url, url: reachableAddress(source.url, window.location) }));
  return (
    <Panel title={text.renditions} hint={files.length > 0 ? text.renditionsHint : text.noRenditions}>
      <QueryProblem error={playback.error} />
      {files.length > 0 && (
        <TableOrCards
          items={files}
          columns={[
            { name: text.columns.quality, cell: qualityOf },
            { name: text.columns.size, className: table.number, cell: sizeOf },
            { name: text.columns.bitrate, className: table.number, cell: rateOf },
            { name: text.columns.address, cell: (source) => <Address source={source} asset={asset} /> },
          ]}
          card={(source) => (
            <>
              <div className={table.cardHead}>
                <strong>{qualityOf(source)}</strong>
                <Address source={source} asset={asset} />
              </div>
              <div className={table.cardLine}>
                <span>{sizeOf(source)}</span>
                <span>{rateOf(source)}</span>
              </div>
            </>
          )}
        />
      )}
    </Panel>
  );
}

function Address({ source, asset }: { readonly source: PlaybackSource; readonly asset: Asset }) {
  const address = useOwnerAddress(source.url, asset.playbackId, asset.playbackPolicy);
  return (
    <span className={classes.address}>
      <a href={address}>MP4</a>
      <CopyButton value={source.url} what={`${qualityOf(source)} ${text.address}`} />
    </span>
  );
}

const qualityOf = ({ width, height }: PlaybackSource): string =>
  width && height ? `${width} × ${height}` : text.audio;

const sizeOf = ({ size }: PlaybackSource): string => (size === undefined ? strings.actions.none : bytesText(size));

const rateOf = ({ bitrate }: PlaybackSource): string =>
  bitrate === undefined ? strings.actions.none : bitrateText(bitrate / 8);
