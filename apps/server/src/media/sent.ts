import type { ViewersMeasure } from "../ports/index.ts";

/** What a session's viewers were sent: written by delivery, read by the hub. */
export class Sent {
  bytes = 0;
  /** To viewers of copies at other nodes, as these have told. */
  bytesElsewhere = 0;
  /** Number of responses, by what they brought. */
  readonly responses = { playlist: 0, part: 0, segment: 0 };
  /** The viewers by WebRTC, or those who were the last. */
  webrtc: WebrtcViewers | null = null;

  /** Count what another session sent, too. */
  add({ bytes, responses: { playlist, part, segment } }: Pick<Sent, "bytes" | "responses">): void {
    this.bytes += bytes;
    this.responses.playlist += playlist;
    this.responses.part += part;
    this.responses.segment += segment;
  }
}

/** The viewers of a session by WebRTC, as far as its owner is told of them. */
export interface WebrtcViewers {
  /** The source has B-frames, which WebRTC does not carry, and somebody watched or wanted to in the last minute. */
  readonly hasBFrames: boolean;
  /** Since the last look; null where nobody watches. */
  take(): ViewersMeasure | null;
}
