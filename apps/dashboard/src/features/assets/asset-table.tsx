import { Button } from "@mantine/core";
import { IconMovie } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Asset } from "@weir/contract";
import { Moment } from "../../shared/components/moment.tsx";
import { SortHeading, sortedBy } from "../../shared/components/sort-heading.tsx";
import classes from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { bytesText, durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { Thumbnail, thumbnailOf } from "../preview/thumbnail.tsx";
import { useRestoreAsset } from "./asset-queries.ts";
import type { AssetSort } from "./asset-search.ts";
import { AssetState } from "./asset-state.tsx";
import list from "./asset-table.module.css";

const text = strings.assets;

interface Props {
  readonly assets: readonly Asset[];
  readonly sort: AssetSort | undefined;
  readonly onSort: (sort: AssetSort) => void;
}

export function AssetTable({ assets, sort = "-createdAt", onSort }: Props) {
  return (
    <TableOrCards
      items={assets}
      columns={[
        {
          name: text.columns.name,
          heading: <SortHeading field="name" name={text.columns.name} isText sort={sort} onSort={onSort} />,
          sorted: sortedBy("name", sort),
          className: list.name,
          cell: (asset) => <AssetName asset={asset} />,
        },
        { name: text.columns.state, cell: (asset) => <AssetState asset={asset} /> },
        { name: text.columns.size, className: classes.number, cell: sizeOf },
        { name: text.columns.duration, className: classes.number, cell: durationOf },
        { name: text.columns.policy, cell: policyName },
        {
          name: text.columns.created,
          heading: (
            <SortHeading field="createdAt" name={text.columns.created} isText={false} sort={sort} onSort={onSort} />
          ),
          sorted: sortedBy("createdAt", sort),
          cell: ({ createdAt }) => <Moment at={createdAt} />,
        },
      ]}
      card={(asset) => (
        <>
          <div className={classes.cardHead}>
            <AssetName asset={asset} />
            <span>{durationOf(asset)}</span>
          </div>
          <div className={classes.cardLine}>
            <AssetState asset={asset} />
            <span className="quiet">{sizeOf(asset)}</span>
          </div>
          <div className={classes.cardLine}>
            <span className="quiet">{policyName(asset)}</span>
            <span className="quiet">
              <Moment at={asset.createdAt} />
            </span>
          </div>
        </>
      )}
    />
  );
}

/** A deleted asset has no page of its own any more: it can only be restored. */
function AssetName({ asset }: { readonly asset: Asset }) {
  if (asset.status.phase === "deleting") return <DeletedName asset={asset} />;
  return (
    <span className={classes.thing}>
      <Thumbnail
        path={asset.status.isPlayable && asset.type === "video" ? thumbnailOf(asset.playbackId) : null}
        playbackId={asset.playbackId}
        policy={asset.playbackPolicy}
      >
        <IconMovie size={18} />
      </Thumbnail>
      <Link to="/assets/$assetId" params={{ assetId: asset.id }} className={classes.name}>
        {asset.name}
      </Link>
    </span>
  );
}

function DeletedName({ asset: { id, name } }: { readonly asset: Asset }) {
  const restore = useRestoreAsset(id);
  return (
    <span className={classes.name}>
      {name}{" "}
      <Button
        size="compact-sm"
        variant="default"
        loading={restore.isPending}
        onClick={() => restore.mutate(undefined, { onSuccess: () => toast(text.restored(name)) })}
      >
        {text.restore}
      </Button>
    </span>
  );
}

export const sizeOf = ({ size }: Asset): string => (size === undefined ? strings.actions.none : bytesText(size));

export const durationOf = ({ videoSpec }: Asset): string =>
  videoSpec?.duration === undefined ? strings.actions.none : durationText(videoSpec.duration);

export const policyName = ({ playbackPolicy }: Asset): string => text.policies[playbackPolicy?.type ?? "public"];
