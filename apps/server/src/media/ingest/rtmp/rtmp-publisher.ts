import type { Socket } from "node:net";
import { FormatError } from "@weir/formats/bits";
import type { AmfValue } from "@weir/formats/rtmp";
import type { Clock, Timer } from "../../../platform/clock.ts";
import { clientOf } from "../../../platform/limits/client.ts";
import type { Log } from "../../../platform/log.ts";
import { readInto } from "../../../platform/read-into.ts";
import type { PublishGate, PublishGrant, PublishRefusal } from "../../../ports/index.ts";
import type { PayloadMemory, Publication, PublicationEnd, PublisherHandle } from "../../packet.ts";
import type { KeyCheck } from "./key-check.ts";
import { ProxyHeader } from "./proxy-header.ts";
import type { PlacedConnection, PublisherPlaces } from "./publisher-places.ts";
import { RtmpSession } from "./rtmp-session.ts";
import { RtmpToPackets, UnsupportedCodec } from "./rtmp-to-packets.ts";

/** From the first byte to `publish`, in all: one byte a second does not keep a slot. */
const PUBLISH_DEADLINE_MS = 10_000;
/** A peer that died without a word is found by three looks at which nothing new had come. */
const LOOK_MS = 10_000;
const MAX_QUIET_LOOKS = 3;
/** How long a publisher that was told to go may take to read why. */
const LAST_WORDS_MS = 2000;
const MAX_UNREAD_BYTES = 64 * 1024;
/** Without a rest for so long, a publisher is no longer ahead. */
const CAUGHT_UP_MS = 1000;
const MAX_KEY_LENGTH = 256;
const KEY = /^[A-Za-z0-9_-]+$/;
const APP = "live";

/** What a publisher needs of the media plane. */
export interface PublicationHub {
  /** Memory for packets, taken back once they are packaged. */
  readonly memory: { readonly packets: PayloadMemory & { allocate(bytes: number): Uint8Array } };
  open(grant: PublishGrant, publisher: PublisherHandle): Publication;
}

export interface RtmpPublisherSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: PublishGate;
  readonly hub: PublicationHub;
  readonly keys: KeyCheck;
  readonly places: PublisherPlaces;
  /** The other end is a trusted proxy, which may say by a PROXY header for whom it connects. */
  readonly isProxy: boolean;
}

const REFUSALS: Record<PublishRefusal, string> = {
  "unknown-key": "This stream key is not known, or may not publish. Check the stream key.",
  suspended: "This stream key is not known, or may not publish. Check the stream key.",
  "too-many": "This server has no room for another stream. Try again later.",
  draining: "This server is shutting down. Connect again.",
  unavailable: "The server cannot check the stream key right now. Try again in a moment.",
};

/**
 * One publisher's life on one connection.
 *
 * *connecting* (handshake, `connect`) → *asking* the gate for its key, the socket paused → *publishing* → *closed*. Whatever goes wrong
 * is said by `onStatus` where a person may read it, then the socket is closed; the end is logged once.
 */
export class RtmpPublisher implements PublisherHandle, PlacedConnection {
  readonly protocol = "rtmp";
  readonly #settings: RtmpPublisherSettings;
  readonly #socket: Socket;
  #remoteAddress: string;
  #client: string | null;
  /** Null once the beginning of the connection was read. */
  #proxyHeader: ProxyHeader | null;
  readonly #session: RtmpSession;
  #state: "connecting" | "asking" | "publishing" | "closed" = "connecting";
  #app = "";
  #publication: Publication | null = null;
  #packets: RtmpToPackets | null = null;
  readonly #deadline: Timer;
  readonly #watch: Timer;
  #bytesSeen = 0;
  #quietLooks = 0;
  /** The publisher is ahead of real time: nothing is read, and TCP slows it down. */
  #rest: Timer | null = null;
  #restEnd: Timer | null = null;

  constructor(socket: Socket, settings: RtmpPublisherSettings) {
    this.#settings = settings;
    this.#socket = socket;
    this.#remoteAddress = socket.remoteAddress ?? "";
    this.#client = settings.isProxy ? null : clientOf(this.#remoteAddress);
    this.#proxyHeader = new ProxyHeader(settings.isProxy);
    this.#session = new RtmpSession(
      {
        connect: (app) => this.#connect(app),
        publish: (name) => void this.#publish(name).catch((error: unknown) => this.#fail(error)),
        unpublish: () => this.#unpublish(),
        unsupported: (command) =>
          this.#refuse("NetStream.Failed", `This server does not serve "${command}" over RTMP. Watch by HLS.`),
        media: (kind, timestamp, payload) => this.#media(kind, timestamp, payload),
        handshaken: () => {},
        write: (bytes) => this.#write(bytes),
      },
      (bytes) => settings.hub.memory.packets.allocate(bytes),
    );
    this.#deadline = settings.clock.after(PUBLISH_DEADLINE_MS, () =>
      this.#end("source-lost", "no publish within 10 s"),
    );
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 10_000);
    this.#watch = settings.clock.every(LOOK_MS, () => this.#look());
    socket.on("error", () => {}); // "close" follows and tells the end
    socket.on("close", () => {
      settings.places.leave(this);
      this.#end("source-lost", "connection closed");
    });
    readInto(socket, (bytes) => this.#receive(bytes));
    settings.places.enter(this);
    settings.places.named(this);
  }

  /** PlacedConnection: where it connects from; null for a trusted proxy that has not said, or does not say, for whom. */
  get client(): string | null {
    return this.#client;
  }

  /** PlacedConnection: others wait for the place of this one, which has no key yet. */
  pushOut(): void {
    this.#end("source-lost", "too many connections without a stream key");
    this.#socket.destroy();
  }

  /** PublisherHandle: the hub lets this publisher go. */
  close(reason: string): void {
    this.#publication = null;
    this.#refuse("NetStream.Publish.Denied", reason);
  }

  #look(): void {
    const { bytesRead } = this.#socket;
    this.#quietLooks = bytesRead === this.#bytesSeen ? this.#quietLooks + 1 : 0;
    this.#bytesSeen = bytesRead;
    if (this.#quietLooks === MAX_QUIET_LOOKS) this.#end("source-lost", "nothing received for 30 s");
  }

  #receive(bytes: Uint8Array): void {
    if (this.#state === "closed") return;
    try {
      if (this.#proxyHeader) this.#receiveProxyHeader(this.#proxyHeader, bytes);
      else this.#session.push(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  #receiveProxyHeader(header: ProxyHeader, bytes: Uint8Array): void {
    const read = header.push(bytes);
    if (!read) return;
    this.#proxyHeader = null;
    if (read.address !== null) {
      this.#remoteAddress = read.address;
      this.#client = clientOf(read.address);
      this.#settings.places.named(this);
    }
    if (read.rest.byteLength > 0) this.#receive(read.rest);
  }

  #fail(error: unknown): void {
    if (error instanceof UnsupportedCodec) this.#refuse("NetStream.Publish.Denied", error.message);
    else if (error instanceof FormatError)
      this.#refuse("NetStream.Failed", `The server could not read what was sent: ${error.message}.`);
    else {
      this.#settings.log.error({ err: error }, "an RTMP publisher could not be served");
      this.#end("source-lost", "internal error");
    }
  }

  #connect(app: string): void {
    // Some encoders send `live/` or put a query behind it.
    this.#app = app.split("?")[0]?.replace(/\/+$/, "") ?? "";
    if (this.#app === APP) return;
    this.#session.rejectConnect(
      `There is no application "${this.#app.slice(0, 40)}" here. The address is rtmp://…/${APP} and the stream key.`,
    );
    this.#end("source-lost", "unknown application");
  }

  async #publish(name: AmfValue): Promise<void> {
    if (this.#state !== "connecting" || this.#app !== APP)
      return this.#refuse("NetStream.Publish.BadName", "publish came out of turn.");
    const streamKey = keyOf(name);
    if (streamKey === null) return this.#refuse("NetStream.Publish.BadName", REFUSALS["unknown-key"]);
    this.#state = "asking";
    this.#deadline.cancel();
    this.#socket.pause();
    this.#session.hold();
    const { gate, hub, keys, places, log } = this.#settings;
    const authorize = () => gate.authorize({ protocol: "rtmp", streamKey, remoteAddress: this.#remoteAddress });
    const decision = await keys
      .ask({ client: this.#client, streamKey, isWanted: () => this.#state === "asking", authorize })
      .catch((err: unknown) => {
        log.error({ err }, "the publish gate could not answer");
        return { ok: false, reason: "unavailable" } as const;
      });
    if (!decision?.ok) return this.#refuse("NetStream.Publish.BadName", REFUSALS[decision?.reason ?? "unavailable"]);
    // The grant holds the stream's lease, and only a publication's end gives one back.
    if (this.#state !== "asking") return hub.open(decision.grant, this).end("source-lost", "connection closed");
    if (!places.publishes(this)) {
      hub.open(decision.grant, this).end("source-lost", REFUSALS["too-many"]);
      return this.#refuse("NetStream.Publish.BadName", REFUSALS["too-many"]);
    }
    this.#state = "publishing";
    this.#publication = hub.open(decision.grant, this);
    this.#packets = new RtmpToPackets(this.#publication, hub.memory.packets);
    this.#session.status("status", "NetStream.Publish.Start", "Publishing.");
    this.#socket.resume();
    this.#session.takeMedia();
  }

  #unpublish(): void {
    if (this.#state === "publishing") this.#end("clean-stop", "the publisher stopped");
  }

  #media(kind: "video" | "audio", timestamp: number, payload: Uint8Array): void {
    if (this.#state !== "publishing") return;
    if (kind === "video") this.#packets?.video(timestamp, payload);
    else this.#packets?.audio(timestamp, payload);
    this.#restIfAhead();
  }

  #restIfAhead(): void {
    const waitMs = this.#publication?.waitMs ?? 0;
    if (waitMs === 0 || this.#state !== "publishing") return;
    const { clock } = this.#settings;
    this.#sayIsAhead();
    this.#session.hold();
    this.#socket.pause();
    // It may have closed with seconds of media still unread here: writing to it would break the connection, and lose them.
    this.#session.stopAcknowledging();
    this.#restEnd?.cancel();
    this.#restEnd = clock.after(waitMs + CAUGHT_UP_MS, () => this.#session.acknowledgeAgain());
    this.#rest = clock.after(waitMs, () => {
      this.#rest = null;
      this.#restIfAhead();
      if (this.#rest === null) this.#readOn();
    });
  }

  #sayIsAhead(): void {
    if (this.#restEnd) return;
    const who = { protocol: this.protocol, remoteAddress: this.#remoteAddress };
    this.#settings.log.info(who, "a publisher sends faster than real time and is slowed down; with ffmpeg, use -re");
  }

  #readOn(): void {
    this.#socket.resume();
    try {
      this.#session.readOn();
    } catch (error) {
      this.#fail(error);
    }
  }

  #write(bytes: Uint8Array): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    this.#socket.write(bytes);
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.#end("source-lost", "the publisher does not read");
  }

  /** Say why, then close once it was read or its time is over. */
  #refuse(code: string, description: string): void {
    if (this.#state === "closed") return;
    this.#session.status("error", code, description);
    this.#end("source-lost", description);
  }

  #end(why: PublicationEnd, reason: string): void {
    if (this.#state === "closed") return;
    const wasPublishing = this.#state === "publishing";
    this.#state = "closed";
    this.#deadline.cancel();
    this.#watch.cancel();
    this.#rest?.cancel();
    this.#restEnd?.cancel();
    this.#publication?.end(why, reason);
    this.#publication = null;
    if (!this.#socket.destroyed) {
      this.#socket.resume(); // so that the peer's end is seen
      this.#socket.end();
      this.#settings.clock.after(LAST_WORDS_MS, () => this.#socket.destroy());
    }
    const { log } = this.#settings;
    log[wasPublishing ? "info" : "debug"](
      { protocol: "rtmp", remoteAddress: this.#remoteAddress },
      `publisher closed: ${reason}`,
    );
  }
}

/** The stream key in a publish name: what stands before a query. Null for what no key can be. */
function keyOf(name: AmfValue): string | null {
  if (typeof name !== "string") return null;
  const key = name.split("?")[0] ?? "";
  return key.length <= MAX_KEY_LENGTH && KEY.test(key) ? key : null;
}
