import { Button } from "@mantine/core";
import { IconMicrophone, IconMicrophoneOff } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { broadcastStrings as text } from "../../shared/strings/broadcast-strings.ts";
import classes from "./broadcast-preview.module.css";
import { type CaptureSource, meterAudio } from "./capture.ts";

interface Props {
  readonly media: MediaStream | null;
  readonly source: CaptureSource;
  readonly isWaiting: boolean;
}

/** The picture and the loudness of the broadcast, and the button that mutes the microphone. */
export function BroadcastPreview({ media, source, isWaiting }: Props) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current) video.current.srcObject = media;
  }, [media]);
  return (
    <div className={classes.stage}>
      <div className={classes.frame}>
        <video ref={video} className={classes.picture} aria-label={text.preview} autoPlay muted playsInline />
        {!media && <p className={classes.waiting}>{isWaiting ? text.asking[source] : text.noPicture}</p>}
      </div>
      {media && <Microphone media={media} />}
    </div>
  );
}

function Microphone({ media }: { readonly media: MediaStream }) {
  const [isMuted, setMuted] = useState(false);
  const hasAudio = media.getAudioTracks().length > 0;
  useEffect(() => {
    for (const track of media.getAudioTracks()) track.enabled = !isMuted;
  }, [media, isMuted]);
  if (!hasAudio) return <p className="quiet">{text.silent}</p>;
  const Icon = isMuted ? IconMicrophoneOff : IconMicrophone;
  return (
    <div className={classes.sound}>
      <Button variant="default" leftSection={<Icon size={16} aria-hidden />} onClick={() => setMuted(!isMuted)}>
        {isMuted ? text.unmute : text.mute}
      </Button>
      <AudioMeter media={media} />
    </div>
  );
}

/** The quietest level on the meter, in decibels below full scale. */
const MIN_DB = -60;
const SCALE = [MIN_DB, -40, -20, 0];

/** Loudness is heard in decibels: half as loud is a sixth of the scale less. */
const shareOfScale = (level: number): number => (level > 0 ? Math.max(0, 1 - (20 * Math.log10(level)) / MIN_DB) : 0);

function AudioMeter({ media }: { readonly media: MediaStream }) {
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    const abort = new AbortController();
    const show = (level: number): void => {
      if (meter.current) meter.current.value = shareOfScale(level);
    };
    meterAudio(media, show, abort.signal);
    return () => abort.abort();
  }, [media]);
  return (
    <div className={classes.level}>
      <meter ref={meter} className={classes.meter} aria-label={text.level} min={0} max={1} high={0.95} optimum={0} />
      <span className={classes.scale} aria-hidden>
        {SCALE.map((mark) => (
          <span key={mark}>{text.decibels(mark)}</span>
        ))}
      </span>
    </div>
  );
}
