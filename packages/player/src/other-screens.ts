/** The part of `RemotePlayback` (W3C Remote Playback API) that is used here. */
interface Remote extends EventTarget {
  readonly state: "connecting" | "connected" | "disconnected";
  watchAvailability(callback: (isAvailable: boolean) => void): Promise<number>;
  /** Ends all that were told. */
  cancelWatchAvailability(): Promise<void>;
  prompt(): Promise<void>;
}

/**
 * A button that chooses another screen for the video, hidden while the browser knows of none. Browsers with AirPlay have a button of their own.
 */
export function offerOtherScreens(button: HTMLElement, video: HTMLVideoElement, signal: AbortSignal): void {
  const { remote } = video as { remote?: Remote };
  if (!remote || "webkitShowPlaybackTargetPicker" in video) return;
  const forget = async (): Promise<void> => await remote.cancelWatchAvailability();
  const watch = (): void => {
    const offer = (isAvailable: boolean): void => {
      button.hidden = !isAvailable && remote.state === "disconnected";
    };
    // What plays may not be playable elsewhere, and each address that is loaded is asked about anew.
    forget()
      .then(() => remote.watchAvailability(offer))
      .catch(() => offer(false));
  };
  const show = (): void => button.setAttribute("aria-pressed", String(remote.state !== "disconnected"));
  for (const event of ["connecting", "connect", "disconnect"]) remote.addEventListener(event, show, { signal });
  // A viewer who closes the choice changes nothing.
  button.addEventListener("click", () => void remote.prompt().catch(() => {}), { signal });
  video.addEventListener("loadedmetadata", watch, { signal });
  signal.addEventListener("abort", () => void forget().catch(() => {}));
}
