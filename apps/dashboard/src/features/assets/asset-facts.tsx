import type { Asset, AssetTrack } from "@weir/contract";
import { type Figure, Figures } from "../../shared/components/figures.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { reachableAddress } from "../../shared/lib/local-addresses.ts";
import { bitrateText, frameRateText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { durationOf, policyName, sizeOf } from "./asset-table.tsx";

const text = strings.assets;

/** The facts about an asset's file, and the asset's addresses. */
export function AssetFacts({ asset }: { readonly asset: Asset }) {
  const { videoSpec, warnings = [], creatorId, playbackUrl, createdAt } = asset;
  const figures: Figure[] = [
    { name: text.columns.created, value: <Moment at={createdAt} /> },
    { name: text.columns.size, value: sizeOf(asset) },
    { name: text.columns.duration, value: durationOf(asset) },
    { name: text.columns.policy, value: policyName(asset) },
  ];
  if (videoSpec?.format) figures.push({ name: text.page.format, value: videoSpec.format });
  if (creatorId) figures.push({ name: text.page.creator, value: creatorId.value });
  return (
    <Panel title={text.page.about}>
      <Figures figures={figures} />
      {videoSpec?.tracks && (
        <ul aria-label={text.page.tracks}>
          {[...Map.groupBy(videoSpec.tracks, trackText)].map(([track, alike]) => (
            <li key={track} className="quiet">
              {alike.length > 1 ? `${alike.length} × ${track}` : track}
            </li>
          ))}
        </ul>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="quiet">
          {warning}
        </p>
      ))}
      {playbackUrl && (
        <ValueField label={text.page.playbackUrl} value={reachableAddress(playbackUrl, window.location)} />
      )}
      <ValueField label={text.page.playbackId} value={asset.playbackId} />
      <ValueField label={text.page.id} value={asset.id} />
    </Panel>
  );
}

function trackText({ codec, width, height, fps, channels, sampleRate, bitrate }: AssetTrack): string {
  return [
    codec,
    width && height && `${width} × ${height}`,
    fps && frameRateText(fps),
    channels && `${channels} ch`,
    sampleRate && `${sampleRate / 1000} kHz`,
    bitrate && bitrateText(bitrate / 8),
  ]
    .filter(Boolean)
    .join(", ");
}
