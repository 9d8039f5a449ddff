import type { Overview } from "@weir/contract";
import type { TileFigure } from "../../shared/components/tile.tsx";
import { bitrateText, bytesText, countText, shareText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";

const text = strings.overview.tiles;

/** Below this share of free disk, recordings may soon stop. */
export const LOW_DISK_SHARE = 0.1;

/** The figures of the overview, each with the page that has more. `watching` is undefined until viewers are counted; `views` are those of each hour. */
export function figuresOf(
  { streams, webhooks, disk, transcoding }: Overview,
  watching: number | undefined,
  views: readonly number[] | undefined,
): TileFigure[] {
  const figures: TileFigure[] = [
    {
      name: text.live,
      value: countText(streams.live),
      hint: text.ofStreams(streams.total),
      to: "/streams?state=active",
    },
    {
      name: text.viewers,
      value: watching === undefined ? strings.actions.none : countText(watching),
      ...(views && { trend: views, hint: text.views(views.reduce((sum, count) => sum + count, 0)) }),
      to: "/usage",
    },
    { name: text.sent, value: bitrateText(streams.outgoingRate), to: "/streams/wall" },
    { name: text.unhealthy, value: countText(streams.unhealthy), to: "/streams?state=unhealthy" },
    {
      name: text.webhooks,
      value: countText(webhooks.failing),
      hint: webhooks.paused > 0 ? text.paused(webhooks.paused) : text.ofWebhooks(webhooks.total),
      to: "/webhooks",
    },
    {
      name: text.disk,
      value: bytesText(disk.freeBytes),
      hint: text.ofBytes(bytesText(disk.totalBytes)),
      to: "/sessions",
      used: 1 - disk.freeBytes / Math.max(1, disk.totalBytes),
    },
  ];
  if (transcoding) {
    const used = transcoding.usedCores / Math.max(Number.EPSILON, transcoding.totalCores);
    figures.push({
      name: text.transcoding,
      value: shareText(used),
      hint: text.cores(transcoding.usedCores.toFixed(1), transcoding.totalCores.toFixed(1)),
      used,
    });
  }
  return figures;
}
