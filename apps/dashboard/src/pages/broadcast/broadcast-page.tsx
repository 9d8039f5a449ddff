import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useBlocker } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import type { BroadcastState } from "@weir/player/broadcast";
import { useState } from "react";
import { BrowserBroadcast } from "../../features/broadcast/browser-broadcast.tsx";
import { ShareButton } from "../../features/share/share-button.tsx";
import { StreamFacts } from "../../features/streams/stream-facts.tsx";
import { streamQuery } from "../../features/streams/stream-queries.ts";
import { SuspendedNote } from "../../features/streams/suspended-note.tsx";
import { ConfirmDialog } from "../../shared/components/confirm-dialog.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { PageOfOne } from "../../shared/components/page-of-one.tsx";
import { broadcastStrings as text } from "../../shared/strings/broadcast-strings.ts";
import { strings } from "../../shared/strings.ts";

const route = getRouteApi("/app/streams/$streamId/broadcast");

/** Camera or screen, and a microphone, to a stream by WebRTC. The broadcast lives as long as the page. */
export function BroadcastPage() {
  const { streamId } = route.useParams();
  const stream = useQuery(streamQuery(streamId));
  return (
    <PageOfOne query={stream} gone={strings.streams.gone} all={<Link to="/streams">{strings.streams.clear}</Link>}>
      {(found) => <BroadcastBody stream={found} />}
    </PageOfOne>
  );
}

interface Props {
  readonly stream: Stream;
}

function BroadcastBody({ stream }: Props) {
  useDocumentTitle(`${text.title} · ${stream.name} · ${strings.app.name}`);
  return (
    <article className={page.page}>
      <header className={page.header}>
        <div className={page.title}>
          <Link to="/streams/$streamId" params={{ streamId: stream.id }} className={page.back}>
            {stream.name}
          </Link>
          <h1>{text.title}</h1>
          <StreamFacts stream={stream} />
        </div>
        <ShareButton
          playbackId={stream.playbackId}
          playlist={`/hls/${stream.playbackId}/index.m3u8`}
          isGated={(stream.playbackPolicy?.type ?? "public") !== "public"}
        />
      </header>
      <Studio stream={stream} />
    </article>
  );
}

const RUNNING: ReadonlySet<BroadcastState> = new Set(["connecting", "live", "reconnecting"]);

function Studio({ stream }: Props) {
  const [state, setState] = useState<BroadcastState>("asking");
  const isOn = RUNNING.has(state);
  return (
    <>
      <LeaveQuestion isOn={isOn} />
      <SuspendedNote stream={stream} />
      {stream.isActive && (state === "ready" || state === "asking") && (
        <Note tone="warning" title={text.running.title}>
          {text.running.body}
        </Note>
      )}
      <BrowserBroadcast streamKey={stream.streamKey} isDisabled={stream.suspended} onState={setState} />
      {state === "unsupported" && (
        <Link to="/streams/$streamId" params={{ streamId: stream.id }}>
          {text.instead}
        </Link>
      )}
    </>
  );
}

/** Asks before a link of this page, or the browser, ends the broadcast. */
function LeaveQuestion({ isOn }: { readonly isOn: boolean }) {
  const leaving = useBlocker({
    shouldBlockFn: () => isOn,
    enableBeforeUnload: isOn,
    disabled: !isOn,
    withResolver: true,
  });
  if (leaving.status !== "blocked") return null;
  return (
    <ConfirmDialog
      opened
      {...text.leaveAsk}
      busy={false}
      error={null}
      onConfirm={leaving.proceed}
      onClose={leaving.reset}
    />
  );
}
