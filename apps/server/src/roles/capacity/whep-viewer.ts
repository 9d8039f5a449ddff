import nodeDataChannel, { type PeerConnection } from "node-datachannel";

const { PeerConnection: Connection, Audio, Video } = nodeDataChannel;
const TRIES = 5;

/** A WebRTC viewer that decrypts what it receives. */
export class WhepViewer {
  readonly #connection: PeerConnection;
  /** Referenced, because the library closes what is garbage-collected. */
  readonly #tracks: readonly unknown[];

  private constructor(connection: PeerConnection, tracks: readonly unknown[]) {
    this.#connection = connection;
    this.#tracks = tracks;
  }

  /** `url` is the stream's WHEP address, and `onPicture` gets the RTP packets of its video. Throws with the server's reason, or after five tries. */
  static async start(url: string, onPicture: (packet: Buffer) => void = () => {}): Promise<WhepViewer> {
    for (let tries = 1; ; tries++) {
      const viewer = await tryToWatch(url, onPicture);
      if (viewer) return new WhepViewer(viewer.connection, viewer.tracks);
      if (tries === TRIES) throw new Error("a WebRTC viewer did not connect");
    }
  }

  get isOpen(): boolean {
    return this.#tracks.length > 0 && this.#connection.state() === "connected";
  }

  stop(): void {
    this.#connection.close();
  }
}

/** Null if no connection came about: the library's offer fails occasionally if the answer arrives before its own description is set. */
async function tryToWatch(
  url: string,
  onPicture: (packet: Buffer) => void,
): Promise<{ connection: PeerConnection; tracks: readonly unknown[] } | null> {
  const connection = new Connection("viewer", {
    iceServers: [],
    bindAddress: "127.0.0.1",
    disableAutoNegotiation: true,
  });
  const video = new Video("0", "RecvOnly");
  video.addH264Codec(96, "profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1");
  const audio = new Audio("1", "RecvOnly");
  audio.addOpusCodec(111);
  const [pictures, sound] = [connection.addTrack(video), connection.addTrack(audio)];
  const tracks = [pictures, sound];
  // What nobody takes would queue up.
  pictures.onMessage(onPicture);
  sound.onMessage(() => {});
  const gathered = new Promise<void>((resolve) => {
    connection.onGatheringStateChange((state) => state === "complete" && resolve());
  });
  const connected = new Promise<boolean>((resolve) => {
    connection.onStateChange((state) => {
      if (state === "connected") resolve(true);
      if (state === "failed" || state === "closed") resolve(false);
    });
  });
  connection.setLocalDescription("offer");
  await gathered;
  const body = connection.localDescription()?.sdp ?? "";
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/sdp" }, body });
  const sdp = await answer.text();
  if (answer.status !== 201) throw new Error(`a WebRTC viewer was refused: ${answer.status} ${sdp}`);
  try {
    connection.setRemoteDescription(sdp, "answer");
  } catch {
    connection.close();
    return null;
  }
  if (await connected) return { connection, tracks };
  connection.close();
  return null;
}
