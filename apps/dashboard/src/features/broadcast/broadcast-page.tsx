import { Button, NativeSelect } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { useEffect, useRef, useState } from "react";
import { Figures } from "../../components/figures.tsx";
import { Loading } from "../../components/loading.tsx";
import { Note } from "../../components/note.tsx";
import page from "../../components/page.module.css";
import { QueryProblem } from "../../components/query-problem.tsx";
import { broadcastStrings as text } from "../../strings/broadcast-strings.ts";
import { strings } from "../../strings.ts";
import { streamQuery } from "../streams/stream-queries.ts";
import classes from "./broadcast-page.module.css";
import { type CaptureChoice, type CaptureDevices, canCapture, capture, listDevices, meterAudio } from "./capture.ts";
import { type BroadcastFigures, type BroadcastState, publishMedia } from "./whip-publisher.ts";

const route = getRouteApi("/app/streams/$streamId/broadcast");

/** Camera or screen, and a microphone, to a stream by WebRTC. The broadcast lives as long as the page. */
export function BroadcastPage() {
  const { streamId } = route.useParams();
  const stream = useQuery(streamQuery(streamId));
  if (stream.error) return <QueryProblem error={stream.error} />;
  return stream.data ? <Studio stream={stream.data} /> : <Loading lines={6} />;
}

interface Running {
  readonly state: BroadcastState;
  readonly problem: string | null;
  readonly figures: BroadcastFigures | null;
}

function Studio({ stream }: { readonly stream: Stream }) {
  useDocumentTitle(`${stream.name} · ${text.title} · ${strings.app.name}`);
  const [choice, setChoice] = useState<CaptureChoice>({ source: "camera", camera: null, microphone: null });
  const { media, devices, problem } = useCapture(choice);
  const [isOn, setOn] = useState(false);
  const running = useBroadcast(stream, media, isOn);
  const hasEnded = running?.state === "failed";
  return (
    <article className={classes.page}>
      <header className={page.header}>
        <div className={page.title}>
          <Link to="/streams/$streamId" params={{ streamId: stream.id }} className={page.back}>
            {text.back}
          </Link>
          <h1>{text.title}</h1>
        </div>
      </header>
      {!canCapture() && (
        <Note tone="warning" title={text.insecure.title}>
          {text.insecure.body}
        </Note>
      )}
      {stream.isActive && !isOn && (
        <Note tone="warning" title={text.running.title}>
          {text.running.body}
        </Note>
      )}
      {problem !== null && canCapture() && <Note tone="failure">{text.noMedia(problem)}</Note>}
      <div className={classes.columns}>
        <div className={classes.stage}>
          <Preview media={media} />
          <AudioMeter media={media} />
        </div>
        <div className={classes.controls}>
          <Choices choice={choice} devices={devices} isDisabled={isOn} onChange={setChoice} />
          <Button
            {...(isOn ? { color: "red" } : {})}
            disabled={!media || stream.streamKey === undefined}
            onClick={() => setOn(!isOn)}
          >
            {isOn ? text.end : text.begin}
          </Button>
          {running && (
            <p role="status" className={classes.state} data-state={running.state}>
              {text.state[running.state]}
            </p>
          )}
          {running?.problem && <Note tone={hasEnded ? "failure" : "warning"}>{running.problem}</Note>}
          {running?.figures && <BroadcastNumbers figures={running.figures} />}
          {isOn && <p className="quiet">{text.leave}</p>}
        </div>
      </div>
    </article>
  );
}

/** The media of the choice; changes with it, and is given back with the page. */
function useCapture(choice: CaptureChoice) {
  const [media, setMedia] = useState<MediaStream | null>(null);
  const [devices, setDevices] = useState<CaptureDevices>({ cameras: [], microphones: [] });
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (!canCapture()) return;
    let given: MediaStream | null = null;
    let isGone = false;
    capture(choice)
      .then(async (stream) => {
        given = stream;
        if (isGone) return stopAll(stream);
        setProblem(null);
        setMedia(stream);
        setDevices(await listDevices());
      })
      .catch((error: Error) => {
        if (isGone) return;
        setMedia(null);
        setProblem(error.message);
      });
    return () => {
      isGone = true;
      if (given) stopAll(given);
    };
  }, [choice]);
  return { media, devices, problem };
}

function stopAll(media: MediaStream): void {
  for (const track of media.getTracks()) track.stop();
}

/** Publishes while it is on; null while it is off. */
function useBroadcast(stream: Stream, media: MediaStream | null, isOn: boolean): Running | null {
  const [running, setRunning] = useState<Running | null>(null);
  const { streamKey } = stream;
  useEffect(() => {
    if (!isOn || !media || streamKey === undefined) return;
    const abort = new AbortController();
    setRunning({ state: "connecting", problem: null, figures: null });
    publishMedia(
      media,
      `/webrtc/${streamKey}`,
      {
        onState: (state, problem) =>
          setRunning((before) => ({ state, problem, figures: state === "live" ? (before?.figures ?? null) : null })),
        onFigures: (figures) => setRunning((before) => before && { ...before, figures }),
      },
      abort.signal,
    );
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    const end = (): void => abort.abort();
    window.addEventListener("beforeunload", warn);
    window.addEventListener("pagehide", end);
    return () => {
      window.removeEventListener("beforeunload", warn);
      window.removeEventListener("pagehide", end);
      abort.abort();
      setRunning(null);
    };
  }, [isOn, media, streamKey]);
  return running;
}

function Preview({ media }: { readonly media: MediaStream | null }) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current) video.current.srcObject = media;
  }, [media]);
  return <video ref={video} className={classes.preview} aria-label={text.preview} autoPlay muted playsInline />;
}

function AudioMeter({ media }: { readonly media: MediaStream | null }) {
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    if (!media) return;
    const abort = new AbortController();
    const tell = (level: number): void => {
      if (meter.current) meter.current.value = level;
    };
    meterAudio(media, tell, abort.signal);
    return () => abort.abort();
  }, [media]);
  return <meter ref={meter} className={classes.meter} aria-label={text.level} min={0} max={1} high={0.95} />;
}

interface ChoicesProps {
  readonly choice: CaptureChoice;
  readonly devices: CaptureDevices;
  readonly isDisabled: boolean;
  readonly onChange: (choice: CaptureChoice) => void;
}

function Choices({ choice, devices, isDisabled, onChange }: ChoicesProps) {
  const options = (list: readonly MediaDeviceInfo[]) => [
    { value: "", label: text.automatic },
    ...list.map(({ deviceId, label }) => ({ value: deviceId, label })),
  ];
  return (
    <>
      <NativeSelect
        label={text.source}
        disabled={isDisabled}
        value={choice.source}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...choice, source: value === "screen" ? "screen" : "camera" })
        }
        data={[
          { value: "camera", label: text.sources.camera },
          { value: "screen", label: text.sources.screen },
        ]}
      />
      {choice.source === "camera" && (
        <NativeSelect
          label={text.camera}
          disabled={isDisabled}
          value={choice.camera ?? ""}
          data={options(devices.cameras)}
          onChange={({ currentTarget }) => onChange({ ...choice, camera: currentTarget.value || null })}
        />
      )}
      <NativeSelect
        label={text.microphone}
        disabled={isDisabled}
        value={choice.microphone ?? ""}
        data={options(devices.microphones)}
        onChange={({ currentTarget }) => onChange({ ...choice, microphone: currentTarget.value || null })}
      />
    </>
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
        { name: words.roundTrip, value: roundTripMs === null ? "–" : words.milliseconds(roundTripMs) },
        { name: words.retransmits, value: String(retransmits) },
      ]}
    />
  );
}
