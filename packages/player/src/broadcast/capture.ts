export type CaptureSource = "camera" | "screen";

/** In place of a device: the broadcast has no sound. */
export const NO_MICROPHONE = "none";

export interface CaptureChoice {
  readonly source: CaptureSource;
  /** Null takes the browser's own choice. */
  readonly camera: string | null;
  /** Null takes the browser's own choice. */
  readonly microphone: string | null;
}

export interface CaptureDevices {
  readonly cameras: readonly MediaDeviceInfo[];
  readonly microphones: readonly MediaDeviceInfo[];
}

/** The reason why there is no video. `other` comes with the browser's own message. */
export type CaptureProblem = "refused" | "missing" | "busy" | "ended" | "other";

const PICTURE = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };

/** Whether this page may ask for a camera: browsers allow it to pages that came by HTTPS or from this machine. */
export function canCapture(): boolean {
  return window.isSecureContext && "mediaDevices" in navigator && typeof RTCPeerConnection !== "undefined";
}

/** Phones share no screen. */
export function canShareScreen(): boolean {
  return "getDisplayMedia" in navigator.mediaDevices;
}

/** Rejects with the browser's reason where the person, or the browser, does not allow it. */
export async function capture(choice: CaptureChoice): Promise<MediaStream> {
  const audio = soundOf(choice);
  if (choice.source === "camera") return navigator.mediaDevices.getUserMedia({ audio, video: cameraOf(choice) });
  const picture = await capturePicture(choice);
  return new MediaStream([...picture, ...(await captureSound(choice).catch(() => []))]);
}

/** The picture alone; rejects like `capture`. */
export async function capturePicture(choice: CaptureChoice): Promise<MediaStreamTrack[]> {
  const { mediaDevices } = navigator;
  const media =
    choice.source === "camera"
      ? await mediaDevices.getUserMedia({ audio: false, video: cameraOf(choice) })
      : await mediaDevices.getDisplayMedia({ video: PICTURE, audio: false });
  return media.getVideoTracks();
}

/** The sound alone, none where that was chosen; rejects like `capture`. */
export async function captureSound(choice: CaptureChoice): Promise<MediaStreamTrack[]> {
  const audio = soundOf(choice);
  if (audio === false) return [];
  return (await navigator.mediaDevices.getUserMedia({ audio })).getAudioTracks();
}

const cameraOf = ({ camera }: CaptureChoice): MediaTrackConstraints =>
  camera === null ? PICTURE : { ...PICTURE, deviceId: { exact: camera } };

function soundOf({ microphone }: CaptureChoice): boolean | MediaTrackConstraints {
  if (microphone === NO_MICROPHONE) return false;
  return microphone === null ? true : { deviceId: { exact: microphone } };
}

/** The names are those that browsers give to `DOMException`s of a capture. */
export function captureProblem({ name }: Pick<Error, "name">): CaptureProblem {
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return "refused";
    case "NotFoundError":
    case "OverconstrainedError":
      return "missing";
    case "NotReadableError":
    case "AbortError":
      return "busy";
    default:
      return "other";
  }
}

/** Their names are known once the person has allowed one of them. */
export async function listDevices(): Promise<CaptureDevices> {
  const all = await navigator.mediaDevices.enumerateDevices();
  const of = (kind: MediaDeviceKind) => all.filter((device) => device.kind === kind && device.deviceId !== "");
  return { cameras: of("videoinput"), microphones: of("audioinput") };
}
