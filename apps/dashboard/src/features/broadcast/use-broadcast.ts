import { useEffect, useState } from "react";
import { type BroadcastFigures, type BroadcastState, publishMedia } from "./whip-publisher.ts";

interface Running {
  readonly state: BroadcastState;
  readonly problem: string | null;
  readonly figures: BroadcastFigures | null;
}

export interface Broadcast {
  /** Null before the first broadcast, and after one that the person ended. */
  readonly running: Running | null;
  /** True while it connects, is live or reconnects. */
  readonly isOn: boolean;
  readonly begin: () => void;
  readonly end: () => void;
}

/** A broadcast of the media to a stream. It ends with the media, and with the page. */
export function useBroadcast(streamKey: string | undefined, media: MediaStream | null): Broadcast {
  const [running, setRunning] = useState<Running | null>(null);
  /** The media of the broadcast; a new object begins a new one. */
  const [wanted, setWanted] = useState<{ readonly media: MediaStream } | null>(null);
  if (wanted !== null && wanted.media !== media) setWanted(null);
  useEffect(() => {
    if (!wanted || streamKey === undefined) return;
    const abort = new AbortController();
    setRunning({ state: "connecting", problem: null, figures: null });
    publishMedia(
      wanted.media,
      `/webrtc/${streamKey}`,
      {
        onState: (state, problem) =>
          setRunning((before) => ({ state, problem, figures: state === "live" ? (before?.figures ?? null) : null })),
        onFigures: (figures) => setRunning((before) => before && { ...before, figures }),
      },
      abort.signal,
    );
    const end = (): void => abort.abort();
    window.addEventListener("pagehide", end);
    return () => {
      window.removeEventListener("pagehide", end);
      abort.abort();
      setRunning(null);
    };
  }, [wanted, streamKey]);
  return {
    running,
    isOn: wanted !== null && running?.state !== "failed",
    begin: () => setWanted(media && { media }),
    end: () => setWanted(null),
  };
}
