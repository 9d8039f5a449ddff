import { Button, Tabs } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Asset } from "@weir/contract";
import { useState } from "react";
import { AssetFacts } from "../../features/assets/asset-facts.tsx";
import { AssetPolicy } from "../../features/assets/asset-policy.tsx";
import { assetQuery, useDeleteAsset, usePatchAsset, useRetryAsset } from "../../features/assets/asset-queries.ts";
import { AssetRenditions } from "../../features/assets/asset-renditions.tsx";
import { AssetState } from "../../features/assets/asset-state.tsx";
import { ClipMaker } from "../../features/clips/clip-maker.tsx";
import { RecordingVideo } from "../../features/sessions/recording-video.tsx";
import { ShareButton } from "../../features/share/share-button.tsx";
import { ViewersPanel } from "../../features/views/viewers-panel.tsx";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { PageOfOne } from "../../shared/components/page-of-one.tsx";
import { PanelBoundary } from "../../shared/components/panel-boundary.tsx";
import { RenameButton } from "../../shared/components/rename-button.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.assets.page;
const route = getRouteApi("/app/assets/$assetId");

export function AssetPage() {
  const { assetId } = route.useParams();
  const asset = useQuery(assetQuery(assetId));
  return (
    <PageOfOne query={asset} gone={text.gone} all={<Link to="/assets">{text.all}</Link>}>
      {(found) => <AssetBody asset={found} />}
    </PageOfOne>
  );
}

function AssetBody({ asset }: { readonly asset: Asset }) {
  const { name, playbackUrl, status } = asset;
  const hasVideo = status.isPlayable && playbackUrl !== undefined;
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  useDocumentTitle(`${name} · ${strings.app.name}`);
  return (
    <article className={page.page}>
      <header className={page.header}>
        <div className={page.title}>
          <Link to="/assets" className={page.back}>
            {strings.assets.title}
          </Link>
          <h1>{name}</h1>
          {status.phase !== "failed" && <AssetState asset={asset} />}
        </div>
        <AssetActions asset={asset} />
      </header>
      {status.phase === "failed" && (
        <Note tone="failure" title={text.wrong}>
          {status.errorMessage}
        </Note>
      )}
      <div className={page.withFacts} data-has-video={hasVideo}>
        {hasVideo && (
          <PanelBoundary>
            <RecordingVideo url={playbackUrl} label={text.player(name)} onVideo={setVideo} />
          </PanelBoundary>
        )}
        <AssetFacts asset={asset} />
      </div>
      {hasVideo && <AssetTabs asset={asset} video={video} />}
    </article>
  );
}

interface AssetTabsProps {
  readonly asset: Asset;
  readonly video: HTMLVideoElement | null;
}

/** What can be done with an asset that plays, below its picture. The marks of a clip, and rules that are not saved yet, outlive a look at another tab. */
function AssetTabs({ asset, video }: AssetTabsProps) {
  const { id, playbackId } = asset;
  const isReady = asset.status.phase === "ready";
  return (
    <Tabs defaultValue="clips" keepMounted={false}>
      <Tabs.List aria-label={text.tabs.label}>
        <Tabs.Tab value="clips">{text.tabs.clips}</Tabs.Tab>
        <Tabs.Tab value="qualities">{text.tabs.qualities}</Tabs.Tab>
        <Tabs.Tab value="viewers">{text.tabs.viewers}</Tabs.Tab>
        {isReady && <Tabs.Tab value="access">{text.tabs.access}</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="clips" pt={16} keepMounted>
        <ClipMaker playbackId={playbackId} of={id} video={video} {...frameSecondsOf(asset)} />
      </Tabs.Panel>
      <Tabs.Panel value="qualities" pt={16}>
        <AssetRenditions asset={asset} />
      </Tabs.Panel>
      <Tabs.Panel value="viewers" pt={16}>
        <ViewersPanel playbackId={playbackId} />
      </Tabs.Panel>
      {isReady && (
        <Tabs.Panel value="access" pt={16} keepMounted>
          <AssetPolicy asset={asset} />
        </Tabs.Panel>
      )}
    </Tabs>
  );
}

/** The time from one picture of the video to the next, so that a step is exactly one picture. Empty where the frame rate is unknown. */
function frameSecondsOf({ videoSpec }: Asset): { frameSeconds?: number } {
  const fps = videoSpec?.tracks?.find((track) => track.fps)?.fps;
  return fps ? { frameSeconds: 1 / fps } : {};
}

function AssetActions({ asset }: { readonly asset: Asset }) {
  const { id, name, status, playbackId, playbackUrl, playbackPolicy } = asset;
  const patch = usePatchAsset(id);
  const retry = useRetryAsset(id);
  const remove = useDeleteAsset(id);
  const navigate = route.useNavigate();
  return (
    <div className={page.actions}>
      {status.isPlayable && playbackUrl !== undefined && (
        <ShareButton
          playbackId={playbackId}
          playlist={new URL(playbackUrl, window.location.href).pathname}
          isGated={(playbackPolicy?.type ?? "public") !== "public"}
        />
      )}
      {retry.error && <Note tone="failure">{retry.error.message}</Note>}
      {status.phase === "failed" && (
        <Button
          loading={retry.isPending}
          onClick={() => retry.mutate(undefined, { onSuccess: () => toast(text.retried) })}
        >
          {text.retry}
        </Button>
      )}
      <RenameButton
        label={text.rename}
        name={name}
        text={text.renaming}
        change={patch}
        onRename={(wanted, close) => patch.mutate({ name: wanted }, { onSuccess: close })}
        code={(wanted) => (weir) => weir.assets.patch(asset.id, { name: wanted })}
      />
      <ConfirmButton
        label={text.delete}
        ask={text.deleteAsk}
        name={name}
        change={remove}
        onConfirm={(close) =>
          remove.mutate(undefined, {
            onSuccess: () => {
              close();
              toast(text.deleted(name));
              void navigate({ to: "/assets" });
            },
          })
        }
      />
    </div>
  );
}
