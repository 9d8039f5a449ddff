export type CaptureSource = "camera" | "screen";

export interface CaptureChoice {
  readonly source: CaptureSource;
  /** Null takes the browser's own choice. */
  readonly camera: string | null;
  readonly microphone: string | null;
}

export interface CaptureDevices {
  readonly cameras: readonly MediaDeviceInfo[];
  readonly microphones: readonly MediaDeviceInfo[];
}

const PICTURE = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };

/** Whether this page may ask for a camera: browsers allow it to pages that came by HTTPS or from this machine. */
export function canCapture(): boolean {
  return window.isSecureContext && "mediaDevices" in navigator && typeof RTCPeerConnection !== "undefined";
}

/** Rejects with the browser's reason where the person, or the browser, does not allow it. */
export async function capture({ source, camera, microphone }: CaptureChoice): Promise<MediaStream> {
  const { mediaDevices } = navigator;
  const audio = microphone === null ? true : { deviceId: { exact: microphone } };
  if (source === "camera") {
    const device = camera === null ? {} : { deviceId: { exact: camera } };
    return mediaDevices.getUserMedia({ audio, video: { ...PICTURE, ...device } });
  }
  const screen = await mediaDevices.getDisplayMedia({ video: PICTURE, audio: false });
  const voice = await mediaDevices.getUserMedia({ audio }).catch(() => null);
  return new MediaStream([...screen.getVideoTracks(), ...(voice?.getAudioTracks() ?? [])]);
}

/** Their names are known once the person has allowed one of them. */
export async function listDevices(): Promise<CaptureDevices> {
  const all = await navigator.mediaDevices.enumerateDevices();
  const of = (kind: MediaDeviceKind) => all.filter((device) => device.kind === kind && device.deviceId !== "");
  return { cameras: of("videoinput"), microphones: of("audioinput") };
}

/** Calls `tell` some 15 times a second with how loud the media is, from 0 to 1, until the signal aborts. */
export function meterAudio(media: MediaStream, tell: (level: number) => void, signal: AbortSignal): void {
  if (media.getAudioTracks().length === 0) return;
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(media).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    let loudest = 0;
    for (const sample of samples) loudest = Math.max(loudest, Math.abs(sample));
    tell(Math.min(1, loudest));
  }, 66);
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    void context.close();
  });
}
