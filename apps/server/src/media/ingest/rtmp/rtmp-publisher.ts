import type { Socket } from "node:net";
import type { AmfValue } from "@weir/formats/rtmp";
import type { Timer } from "../../../platform/clock.ts";
import { clientOf } from "../../../platform/limits/client.ts";
import { readInto } from "../../../platform/read-into.ts";
import { PublishConnection, type PublishWire } from "../publish-connection.ts";
import { OUT_OF_TURN, type Refusal, type RefusalCause } from "../publish-refusals.ts";
import type { PublishSettings } from "../publish-settings.ts";
import { ProxyHeader } from "./proxy-header.ts";
import type { ReadMark } from "./read-mark.ts";
import { RtmpSession } from "./rtmp-session.ts";
import { RtmpToPackets } from "./rtmp-to-packets.ts";

/** From the first byte until `publish`: a client that sends one byte per second cannot keep a slot. */
const PUBLISH_DEADLINE_MS = 10_000;
/** A dead peer is detected after three checks without new bytes. */
const LOOK_MS = 10_000;
const MAX_QUIET_LOOKS = 3;
/** How long a closed publisher may take to read the reason. */
const LAST_WORDS_MS = 2000;
const MAX_UNREAD_BYTES = 64 * 1024;
const APP = "live";

const BAD_NAME = "NetStream.Publish.BadName";
const DENIED = "NetStream.Publish.Denied";
const FAILED = "NetStream.Failed";

const CODES: Record<RefusalCause, string> = {
  "unknown-key": BAD_NAME,
  suspended: BAD_NAME,
  "too-many": BAD_NAME,
  draining: BAD_NAME,
  unavailable: BAD_NAME,
  "out-of-turn": BAD_NAME,
  "unsupported-request": FAILED,
  "unsupported-codec": DENIED,
  unreadable: FAILED,
  "let-go": DENIED,
};

/**
 * A publish connection over RTMP: handshake and `connect`, then `publish` with the stream key, then media messages. Every refusal is sent as
 * `onStatus`, which encoders display, before the socket is closed.
 */
export class RtmpPublisher implements PublishWire {
  readonly protocol = "rtmp";
  readonly #settings: PublishSettings;
  readonly #socket: Socket;
  /** Null once the start of the connection was read. */
  #proxyHeader: ProxyHeader | null;
  readonly #session: RtmpSession;
  readonly #connection: PublishConnection;
  readonly #packets: RtmpToPackets;
  readonly #readMark: ReadMark;
  readonly #deadline: Timer;
  readonly #watch: Timer;
  #app = "";
  #bytesSeen = 0;
  #quietLooks = 0;

  /** `isProxy`: the peer is a trusted proxy, which may name its client in a PROXY header. */
  constructor(socket: Socket, isProxy: boolean, readMark: ReadMark, settings: PublishSettings) {
    const { clock, hub } = settings;
    this.#settings = settings;
    this.#socket = socket;
    this.#readMark = readMark;
    this.#proxyHeader = new ProxyHeader(isProxy);
    this.#session = new RtmpSession(
      {
        connect: (app) => this.#connect(app),
        publish: (name) => this.#publish(name),
        unpublish: () => this.#connection.stop(),
        unsupported: (command) => this.#unsupported(command),
        media: (kind, timestamp, payload) => this.#media(kind, timestamp, payload),
        data: (payload) => {
          if (this.#connection.isPublishing) this.#packets.data(payload);
        },
        handshaken: () => {},
        write: (bytes) => this.#write(bytes),
      },
      (bytes) => hub.memory.packets.allocate(bytes),
    );
    this.#deadline = clock.after(PUBLISH_DEADLINE_MS, () => this.#lost("no publish within 10 s"));
    this.#watch = clock.every(LOOK_MS, () => this.#look());
    const remoteAddress = socket.remoteAddress ?? "";
    const client = isProxy ? null : clientOf(remoteAddress);
    this.#connection = new PublishConnection(this, { remoteAddress, client }, settings);
    this.#packets = new RtmpToPackets(this.#connection, hub.memory.packets);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 10_000);
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => this.#connection.gone());
    readInto(socket, (bytes) => this.#receive(bytes));
  }

  pause(): void {
    this.#socket.pause();
    this.#session.hold();
  }

  resume(): void {
    this.#socket.resume();
    this.#session.readOn();
  }

  /**
   * A sender that is ahead may have closed with seconds of media still unread here. Writing to the socket would reset the connection and lose them.
   */
  paceChanged(isAhead: boolean): void {
    if (isAhead) this.#session.stopAcknowledging();
    else this.#session.acknowledgeAgain();
  }

  accept(): void {
    this.#session.status("status", "NetStream.Publish.Start", "Publishing.");
    this.#socket.resume();
    this.#session.takeMedia();
  }

  refuse({ cause, sentence }: Refusal): void {
    this.#session.status("error", CODES[cause], sentence);
  }

  close(): void {
    this.#deadline.cancel();
    this.#watch.cancel();
    if (this.#socket.destroyed) return;
    this.#socket.resume(); // to see the peer's FIN
    this.#socket.end();
    this.#settings.clock.after(LAST_WORDS_MS, () => this.destroy());
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #lost(reason: string): void {
    this.#connection.end("source-lost", reason);
  }

  #look(): void {
    const { bytesRead } = this.#socket;
    this.#quietLooks = bytesRead === this.#bytesSeen ? this.#quietLooks + 1 : 0;
    this.#bytesSeen = bytesRead;
    if (this.#quietLooks === MAX_QUIET_LOOKS) this.#lost("nothing received for 30 s");
  }

  #receive(bytes: Uint8Array): void {
    if (this.#connection.isClosed) return;
    try {
      if (this.#proxyHeader) this.#receiveProxyHeader(this.#proxyHeader, bytes);
      else this.#session.push(bytes);
      this.#readMark.read(this.#session.missing);
    } catch (error) {
      this.#connection.fail(error);
    }
  }

  #receiveProxyHeader(header: ProxyHeader, bytes: Uint8Array): void {
    const read = header.push(bytes);
    if (!read) return;
    this.#proxyHeader = null;
    const { address, rest } = read;
    if (address !== null) this.#connection.named({ remoteAddress: address, client: clientOf(address) });
    if (rest.byteLength > 0) this.#receive(rest);
  }

  #connect(app: string): void {
    // Some encoders send `live/` or append a query.
    this.#app = app.split("?")[0]?.replace(/\/+$/, "") ?? "";
    if (this.#app === APP) return;
    this.#session.rejectConnect(
      `Unknown application "${this.#app.slice(0, 40)}". Use rtmp://…/${APP} and the stream key.`,
    );
    this.#lost("unknown application");
  }

  #publish(name: AmfValue): void {
    this.#deadline.cancel();
    if (this.#app !== APP) return this.#connection.refuse(OUT_OF_TURN);
    // Some encoders append a query to the key.
    const streamKey = typeof name === "string" ? (name.split("?")[0] ?? "") : "";
    void this.#connection.publish(streamKey);
  }

  #unsupported(command: string): void {
    const sentence = `This server does not support "${command}" over RTMP. Use HLS to watch.`;
    this.#connection.refuse({ cause: "unsupported-request", sentence });
  }

  #media(kind: "video" | "audio", timestamp: number, payload: Uint8Array): void {
    if (!this.#connection.isPublishing) return;
    if (kind === "audio") return this.#packets.audio(timestamp, payload);
    if (this.#packets.video(timestamp, payload)) this.#readMark.frame(payload.byteLength);
  }

  #write(bytes: Uint8Array): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    this.#socket.write(bytes);
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.#lost("the publisher does not read");
  }
}
