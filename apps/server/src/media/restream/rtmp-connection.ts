import type { Socket } from "node:net";
import { FormatError } from "@weir/formats/bits";
import { type RtmpAddress, RtmpPublishClient, rtmpAddressOf } from "@weir/formats/rtmp";
import { HANDSHAKE_CRYPTO } from "../../platform/handshake-crypto.ts";
import { FORWARD, type Outbound } from "../../platform/outbound/outbound.ts";
import { ConnectionLife, type ConnectionSettings } from "./connection-life.ts";
import { failureOfConnection } from "./refused-connection.ts";
import { RtmpFormat } from "./rtmp-format.ts";
import { cleanWords } from "./target-address.ts";
import type { TargetConnection } from "./target-connection.ts";

/** Time for a target to read the end of the broadcast. */
const LAST_BYTES_MS = 2_000;
/** Limit per second of the data from a target: RTMP servers send acknowledgements, pings and a few commands. */
const MAX_BYTES_A_LOOK = 256 * 1024;
const LOOK_MS = 1_000;
/** Pings are not answered while more than this is unread. */
const MAX_UNREAD_ANSWERS = 64 * 1024;

export interface RtmpConnectionSettings extends ConnectionSettings {
  readonly outbound: Pick<Outbound, "dial">;
}

/** Connects to an RTMP or RTMPS target. Returns a sentence if the address is not allowed. */
export function connectRtmp(settings: RtmpConnectionSettings): TargetConnection | string {
  const { outbound, url } = settings;
  const address = rtmpAddressOf(url);
  if (!address) return "it has no application or no stream key: rtmp://host/application/key";
  const socket = outbound.dial({ url, purpose: FORWARD, isSecure: address.isSecure });
  return typeof socket === "string" ? socket : new RtmpConnection(settings, socket, address);
}

class RtmpConnection implements TargetConnection {
  readonly #settings: RtmpConnectionSettings;
  readonly #socket: Socket;
  readonly #client: RtmpPublishClient;
  readonly #life: ConnectionLife;
  #received = 0;
  /** Start of the interval that `#received` counts. */
  #receivingSince = 0;
  #isPublishing = false;

  constructor(settings: RtmpConnectionSettings, socket: Socket, address: RtmpAddress) {
    this.#settings = settings;
    const client = new RtmpPublishClient(
      {
        write: (bytes) => this.#answer(socket, bytes),
        publishing: (streamId) => this.#publishing(streamId),
        refused: (words) =>
          this.#life.lose(`The target refused the stream: ${sentenceOf(cleanWords(words, settings.url))}`),
      },
      address,
    );
    this.#socket = socket;
    this.#client = client;
    this.#life = new ConnectionLife(settings, () => this.destroy());
    socket.once(address.isSecure ? "secureConnect" : "connect", () => client.start(HANDSHAKE_CRYPTO));
    socket.on("data", (bytes) => this.#receive(client, bytes));
    socket.on("error", (error) => this.#life.fail(failureOfConnection(error)));
    socket.once("close", () => this.#life.lose("The target closed the connection."));
  }

  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  write(bytes: Uint8Array): void {
    if (!this.#life.isOver) this.#socket.write(bytes);
  }

  close(): void {
    const socket = this.#socket;
    if (!this.#isPublishing) return this.destroy();
    this.#client.stop();
    this.#life.end();
    socket.end();
    this.#settings.clock.after(LAST_BYTES_MS, () => socket.destroy());
  }

  destroy(): void {
    this.#life.end();
    this.#socket.destroy();
  }

  #answer(socket: Socket, bytes: Uint8Array): void {
    if (this.#isPublishing && socket.writableLength > MAX_UNREAD_ANSWERS) return;
    socket.write(bytes);
  }

  #publishing(streamId: number): void {
    if (this.#life.isOver || this.#isPublishing) return;
    this.#isPublishing = true;
    this.#life.accepted({ key: `rtmp ${streamId}`, create: () => new RtmpFormat(streamId) });
  }

  #receive(client: RtmpPublishClient, bytes: Uint8Array): void {
    if (this.#life.isOver) return;
    const now = this.#settings.clock.monotonic();
    if (now - this.#receivingSince >= LOOK_MS) {
      this.#received = 0;
      this.#receivingSince = now;
    }
    this.#received += bytes.byteLength;
    if (this.#received > MAX_BYTES_A_LOOK)
      return this.#life.lose("The target sends more data than an RTMP server should.");
    try {
      client.push(bytes);
    } catch (error) {
      if (!(error instanceof FormatError))
        this.#settings.log.error({ err: error }, "could not parse a target's response");
      this.#life.lose("The target does not speak RTMP.");
    }
  }
}

/** Adds a full stop unless the text ends with punctuation. */
const sentenceOf = (words: string): string => (/[.!?…]$/.test(words) ? words : `${words}.`);
