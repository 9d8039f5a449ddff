import type { Timer } from "../../../platform/clock.ts";
import { clientOf } from "../../../platform/limits/client.ts";
import type { SrtMeasure } from "../../../ports/index.ts";
import type { SrtGuest, SrtGuestHandler, SrtLinkReport } from "../../srt/index.ts";
import type { TranscodeChildren } from "../../transcode/index.ts";
import { PublishConnection, type PublishWire } from "../publish-connection.ts";
import type { Refusal } from "../publish-refusals.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { TsToPackets } from "../ts/ts-to-packets.ts";
import { SrtLinkMeter } from "./srt-link-meter.ts";
import { readStreamId } from "./stream-id.ts";

/** From the connection to its first media, and from there to the first track. */
const MEDIA_DEADLINE_MS = 10_000;
/** libsrt notices a dead peer. This is for one that is alive and sends nothing. */
const LOOK_MS = 10_000;
const MAX_QUIET_LOOKS = 3;

const REFUSALS = {
  key: {
    cause: "unsupported-request",
    sentence:
      "The SRT passphrase is missing or wrong, or this server has none. Use the address from the stream's page as it is.",
  },
  empty: {
    cause: "unsupported-request",
    sentence: "The SRT stream id is empty. Put the stream key into it: srt://host:port?streamid=KEY",
  },
  receive: {
    cause: "unsupported-request",
    sentence: "This server does not send streams over SRT. Use HLS to watch, or m=publish to publish.",
  },
  fast: {
    cause: "unreadable",
    sentence: "The stream arrives faster than real time. Send in real time (with ffmpeg: -re).",
  },
} as const satisfies Record<string, Refusal>;

/** What all connections together are measured by. */
export interface SrtObserver {
  reported(report: SrtLinkReport): void;
  over(): void;
}

/**
 * A publish connection over SRT. Its stream id has the key, which is asked for when the first media arrives: some encoders open a second connection
 * while the first is still being made, and one without media must not take the place of the other.
 *
 * SRT sends no words to an encoder, so a refusal only closes the connection; the dashboard has its sentence. It has no flow control that a sender
 * survives without losses either: one that is ahead of real time is disconnected, as over WebRTC.
 */
export class SrtPublisher implements PublishWire, SrtGuestHandler {
  readonly protocol = "srt";
  readonly #guest: SrtGuest;
  readonly #connection: PublishConnection;
  readonly #packets: TsToPackets;
  readonly #link = new SrtLinkMeter();
  readonly #observer: SrtObserver;
  readonly #deadline: Timer;
  readonly #watch: Timer;
  readonly #settings: PublishSettings;
  #first: Uint8Array | null = null;
  #bytes = 0;
  #bytesSeen = 0;
  #quietLooks = 0;
  #isOver = false;

  constructor(guest: SrtGuest, settings: PublishSettings, children: TranscodeChildren, observer: SrtObserver) {
    const { clock, log, hub } = settings;
    this.#guest = guest;
    this.#settings = settings;
    this.#observer = observer;
    this.#deadline = clock.after(MEDIA_DEADLINE_MS, () => this.#lost("no media within 10 s"));
    this.#watch = clock.every(LOOK_MS, () => this.#look());
    const broadcaster = { remoteAddress: guest.address, client: clientOf(guest.address) };
    this.#connection = new PublishConnection(this, broadcaster, settings);
    this.#packets = new TsToPackets(this.#connection, { clock, log, children, memory: hub.memory.packets });
  }

  /** Refuses it if it can be seen already that it may not publish. */
  begin(): void {
    const { kind } = readStreamId(this.#guest.streamId);
    if (!this.#guest.isKeyShared) this.#connection.refuse(REFUSALS.key);
    else if (kind !== "publish") this.#connection.refuse(REFUSALS[kind]);
  }

  media(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    if (this.#connection.isPublishing) return this.#read(bytes);
    if (this.#first || this.#isOver) return;
    this.#first = bytes.slice();
    this.#deadline.cancel();
    const asked = readStreamId(this.#guest.streamId);
    if (asked.kind === "publish") void this.#connection.publish(asked.streamKey);
  }

  link(report: SrtLinkReport): void {
    this.#link.report(report);
    this.#observer.reported(report);
  }

  takeLink(): SrtMeasure | null {
    return this.#link.take();
  }

  get linkState(): string {
    return this.#link.state;
  }

  get leftOut(): string | null {
    return this.#packets.leftOut;
  }

  gone(reason: string, isWanted: boolean): void {
    if (this.#connection.isPublishing) this.#finish();
    if (isWanted) this.#connection.stop();
    else this.#connection.end("source-lost", reason);
    this.#over();
  }

  pause(): void {
    if (this.#connection.isPublishing) this.#connection.refuse(REFUSALS.fast);
  }

  resume(): void {}

  paceChanged(): void {}

  accept(): void {
    const first = this.#first;
    this.#first = null;
    this.#guest.receive();
    this.#settings.clock.after(MEDIA_DEADLINE_MS, () => this.#judge());
    if (first) this.#packets.push(first);
  }

  refuse(): void {}

  close(): void {
    this.#over();
  }

  destroy(): void {
    this.#over();
  }

  #read(bytes: Uint8Array): void {
    try {
      this.#packets.push(bytes);
    } catch (error) {
      this.#connection.fail(error);
    }
  }

  #finish(): void {
    try {
      this.#packets.end();
    } catch {
      // The connection is over, whatever its last bytes were.
    }
  }

  /** Long enough after its start, what arrives has a track. */
  #judge(): void {
    const sentence = this.#connection.isPublishing ? this.#packets.missing : null;
    if (sentence !== null && this.#bytes > 0) this.#connection.refuse({ cause: "unreadable", sentence });
  }

  #look(): void {
    this.#quietLooks = this.#bytes > this.#bytesSeen ? 0 : this.#quietLooks + 1;
    this.#bytesSeen = this.#bytes;
    if (this.#quietLooks >= MAX_QUIET_LOOKS) this.#lost("nothing received for 30 s");
  }

  #lost(reason: string): void {
    this.#connection.end("source-lost", reason);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline.cancel();
    this.#watch.cancel();
    this.#packets.close();
    this.#guest.close();
    this.#connection.gone();
    this.#observer.over();
  }
}
