import { Switch } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import type { ReactNode } from "react";
import { ingestQuery } from "../../features/account/account-queries.ts";
import { BroadcastLink } from "../../features/broadcast/broadcast-link.tsx";
import { PullPanel } from "../../features/pulls/pull-panel.tsx";
import { ShareButton } from "../../features/share/share-button.tsx";
import { LadderPanel } from "../../features/streams/ladder-panel.tsx";
import { PublishGuide } from "../../features/streams/publish-guide.tsx";
import { SlateSetting } from "../../features/streams/slate-setting.tsx";
import {
  DeleteButton,
  RenameStreamButton,
  RotateKeyButton,
  SuspendButton,
} from "../../features/streams/stream-actions.tsx";
import { usePatchStream } from "../../features/streams/stream-queries.ts";
import { TestBroadcastButton } from "../../features/streams/test-broadcast-button.tsx";
import { Figures } from "../../shared/components/figures.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import classes from "./stream-overview.module.css";

const text = strings.streams.overview;

/** The addresses to publish to and to watch at, and the stream's settings. */
export function StreamOverview({ stream }: { readonly stream: Stream }) {
  const ingest = useQuery(ingestQuery);
  // A phone has room for what is looked at during a broadcast; the rest opens with a touch.
  const isPhone = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  if (ingest.error) return <Note tone="failure">{ingest.error.message}</Note>;
  if (!ingest.data) return <p className="quiet">{strings.app.loading}</p>;
  return (
    <div className={page.columns}>
      <div className={page.stack}>
        <Panel title={text.publish}>
          {/* Whoever is on the air has no need of it. */}
          <Folded isFolded={stream.isActive} title={text.instructions}>
            <PublishGuide
              addresses={ingest.data}
              streamKey={stream.streamKey ?? null}
              testBroadcast={<TestBroadcastButton stream={stream} variant="default" />}
            />
            <BroadcastLink streamId={stream.id} />
          </Folded>
        </Panel>
        <PullPanel stream={stream} isFolded={isPhone || !stream.pull} />
        <LadderPanel stream={stream} isFolded={isPhone} />
      </div>
      <div className={page.stack}>
        <Panel title={text.watch}>
          <ValueField label={text.playbackUrl} value={`${ingest.data.playback}/${stream.playbackId}/index.m3u8`} />
          <ValueField label={text.playbackId} value={stream.playbackId} />
          <div className={page.actions}>
            <ShareButton
              playbackId={stream.playbackId}
              playlist={`/hls/${stream.playbackId}/index.m3u8`}
              isGated={(stream.playbackPolicy?.type ?? "public") !== "public"}
            />
          </div>
        </Panel>
        <Panel title={text.settings} isFolded={isPhone}>
          <RecordSwitch stream={stream} />
          <SlateSetting stream={stream} />
          <Figures
            figures={[
              { name: text.created, value: <Moment at={stream.createdAt} /> },
              { name: text.total, value: durationText(stream.sourceSegmentsDuration) },
            ]}
          />
          <ValueField label={text.streamId} value={stream.id} />
          <div className={page.actions}>
            <RenameStreamButton stream={stream} />
          </div>
        </Panel>
        <Panel title={text.danger} hint={text.dangerHint} isFolded={isPhone}>
          <div className={page.actions}>
            <RotateKeyButton stream={stream} />
            <SuspendButton stream={stream} />
            <DeleteButton stream={stream} />
          </div>
        </Panel>
      </div>
    </div>
  );
}

interface FoldedProps {
  readonly isFolded: boolean;
  readonly title: string;
  readonly children: ReactNode;
}

function Folded({ isFolded, title, children }: FoldedProps) {
  if (!isFolded) return <div className={page.stack}>{children}</div>;
  return (
    <details>
      <summary>{title}</summary>
      <div className={`${page.stack} ${classes.unfolded}`}>{children}</div>
    </details>
  );
}

function RecordSwitch({ stream }: { readonly stream: Stream }) {
  const patch = usePatchStream(stream.id);
  const wanted = patch.isPending ? patch.variables.record : undefined;
  return (
    <>
      <Switch
        label={text.record}
        description={stream.isActive ? text.recordLive : text.recordHint}
        checked={wanted ?? stream.record}
        disabled={stream.isActive}
        onChange={(event) => patch.mutate({ record: event.currentTarget.checked })}
      />
      {patch.error && <Note tone="failure">{patch.error.message}</Note>}
    </>
  );
}
