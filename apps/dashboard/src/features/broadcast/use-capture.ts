import { useCallback, useEffect, useState } from "react";
import {
  type CaptureChoice,
  type CaptureDevices,
  type CaptureProblem,
  canCapture,
  capture,
  captureProblem,
  listDevices,
} from "./capture.ts";

export interface Captured {
  /** Null until the browser gives it, and after it ended. */
  readonly media: MediaStream | null;
  readonly devices: CaptureDevices;
  readonly problem: { readonly kind: CaptureProblem; readonly message: string } | null;
  /** Asks the browser once more. */
  readonly retry: () => void;
}

/** The media of the choice; changes with it, and is given back with the page. */
export function useCapture(choice: CaptureChoice): Captured {
  const [media, setMedia] = useState<MediaStream | null>(null);
  const [devices, setDevices] = useState<CaptureDevices>({ cameras: [], microphones: [] });
  const [problem, setProblem] = useState<Captured["problem"]>(null);
  const [asked, setAsked] = useState({ choice });
  if (asked.choice !== choice) {
    setAsked({ choice });
    setMedia(null);
    setProblem(null);
  }
  useEffect(() => {
    if (!canCapture()) return;
    let given: MediaStream | null = null;
    let isGone = false;
    const lose = (kind: CaptureProblem, message: string): void => {
      if (isGone) return;
      setMedia(null);
      setProblem({ kind, message });
    };
    capture(asked.choice)
      .then(async (stream) => {
        given = stream;
        if (isGone) return stopAll(stream);
        // The person ends the sharing of a screen in the browser's own bar, or pulls out the camera.
        for (const track of stream.getVideoTracks()) track.addEventListener("ended", () => lose("ended", ""));
        setProblem(null);
        setMedia(stream);
        setDevices(await listDevices());
      })
      .catch((error: Error) => lose(captureProblem(error), error.message));
    return () => {
      isGone = true;
      if (given) stopAll(given);
    };
  }, [asked]);
  const retry = useCallback(() => {
    setProblem(null);
    setAsked(({ choice: same }) => ({ choice: same }));
  }, []);
  return { media, devices, problem, retry };
}

function stopAll(media: MediaStream): void {
  for (const track of media.getTracks()) track.stop();
}
