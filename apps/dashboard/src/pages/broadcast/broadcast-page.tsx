import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useBlocker } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { BroadcastControls } from "../../features/broadcast/broadcast-controls.tsx";
import { BroadcastPreview } from "../../features/broadcast/broadcast-preview.tsx";
import { type CaptureChoice, canCapture } from "../../features/broadcast/capture.ts";
import { type Broadcast, useBroadcast } from "../../features/broadcast/use-broadcast.ts";
import { type Captured, useCapture } from "../../features/broadcast/use-capture.ts";
import type { BroadcastFigures } from "../../features/broadcast/whip-publisher.ts";
import { ShareButton } from "../../features/share/share-button.tsx";
import { StreamFacts } from "../../features/streams/stream-facts.tsx";
import { streamQuery } from "../../features/streams/stream-queries.ts";
import { SuspendedNote } from "../../features/streams/suspended-note.tsx";
import { ConfirmDialog } from "../../shared/components/confirm-dialog.tsx";
import { Figures } from "../../shared/components/figures.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { PageOfOne } from "../../shared/components/page-of-one.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { broadcastStrings as text } from "../../shared/strings/broadcast-strings.ts";
import { strings } from "../../shared/strings.ts";
import classes from "./broadcast-page.module.css";

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
      {canCapture() ? <Studio stream={stream} /> : <NoCapture stream={stream} />}
    </article>
  );
}

function NoCapture({ stream }: Props) {
  return (
    <Note tone="warning" title={text.insecure.title}>
      {text.insecure.body}{" "}
      <Link to="/streams/$streamId" params={{ streamId: stream.id }}>
        {text.insecure.instead}
      </Link>
    </Note>
  );
}

function Studio({ stream }: Props) {
  const [choice, setChoice] = useState<CaptureChoice>({ source: "camera", camera: null, microphone: null });
  const captured = useCapture(choice);
  const { media, devices, problem } = captured;
  const broadcast = useBroadcast(stream.streamKey, media);
  const { isOn } = broadcast;
  return (
    <>
      <LeaveQuestion isOn={isOn} />
      <SuspendedNote stream={stream} />
      {stream.isActive && broadcast.running === null && (
        <Note tone="warning" title={text.running.title}>
          {text.running.body}
        </Note>
      )}
      {problem && <CaptureNote problem={problem} retry={captured.retry} />}
      <div className={page.withFacts}>
        <BroadcastPreview media={media} source={choice.source} isWaiting={problem === null} />
        <Panel title={text.controls}>
          <BroadcastControls choice={choice} devices={devices} isDisabled={isOn} onChange={setChoice} />
          <BroadcastSwitch broadcast={broadcast} isReady={media !== null && !stream.suspended} />
        </Panel>
      </div>
    </>
  );
}

interface CaptureNoteProps {
  readonly problem: NonNullable<Captured["problem"]>;
  readonly retry: () => void;
}

function CaptureNote({ problem: { kind, message }, retry }: CaptureNoteProps) {
  const { title, body } = text.problems[kind];
  return (
    <Note tone="failure" title={title}>
      {body} {kind === "other" && message}
      <div className={classes.retry}>
        <Button size="compact-sm" variant="default" onClick={retry}>
          {text.retry}
        </Button>
      </div>
    </Note>
  );
}

interface SwitchProps {
  readonly broadcast: Broadcast;
  readonly isReady: boolean;
}

/** The button that begins and ends the broadcast, how it goes, and its figures. */
function BroadcastSwitch({ broadcast: { running, isOn, begin, end }, isReady }: SwitchProps) {
  return (
    <>
      <Button fullWidth {...(isOn ? { color: "red.9" } : {})} disabled={!isOn && !isReady} onClick={isOn ? end : begin}>
        {isOn ? text.end : running ? text.again : text.begin}
      </Button>
      {running && (
        <p role="status" className={classes.state} data-state={running.state}>
          {text.state[running.state]}
        </p>
      )}
      {running?.problem && <Note tone={isOn ? "warning" : "failure"}>{running.problem}</Note>}
      {running?.figures && <BroadcastNumbers figures={running.figures} />}
      {isOn && <p className="quiet">{text.leave}</p>}
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

function BroadcastNumbers({ figures }: { readonly figures: BroadcastFigures }) {
  const { figures: words } = text;
  const { bitsPerSecond, width, height, framesPerSecond, fractionLost, roundTripMs, retransmits } = figures;
  return (
    <Figures
      figures={[
        { name: words.rate, value: words.megabits(bitsPerSecond) },
        { name: words.picture, value: words.pictureOf(width, height, framesPerSecond) },
        { name: words.loss, value: words.percent(fractionLost) },
        {
          name: words.roundTrip,
          value: roundTripMs === null ? strings.actions.none : words.milliseconds(roundTripMs),
        },
        { name: words.retransmits, value: String(retransmits) },
      ]}
    />
  );
}
