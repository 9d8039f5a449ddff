import { FormatError } from "../bits/index.ts";
import { readAggregate } from "./aggregate.ts";
import { type AmfObject, readAmf0 } from "./amf0.ts";
import type { Allocate } from "./chunk-reader.ts";
import { ClientConnection, isRedirect, objectOf, type RtmpPlace } from "./client-connection.ts";
import type { HandshakeCrypto } from "./handshake.ts";
import { MESSAGE, USER_CONTROL, uint32Payload, userControlPayload } from "./message.ts";

const MAX_MEDIA_BYTES = 12 * 1024 * 1024;
/** Metadata is longer. */
const MAX_STATUS_BYTES = 1024;
const PLAY = 5;
/** The live stream of the name, or else the recorded one (RTMP 1.0, 7.2.2.1). */
const LIVE_OR_RECORDED = -2000;
/** How much of a recorded stream the server sends ahead. */
const BUFFER_MS = 3_000;
const LIVE_IS_OVER = new Set(["NetStream.Play.UnpublishNotify", "NetStream.Play.Stop"]);

/** `over`: what was played has ended, and may begin again. */
export type PlayRefusal = "not-found" | "redirect" | "refused" | "over";

export interface PlayClientHandler {
  write(bytes: Uint8Array): void;
  /** The server accepted to send the stream. */
  playing(): void;
  /** A message of the stream. The receiver owns the payload. */
  media(kind: "video" | "audio" | "data", timestamp: number, payload: Uint8Array): void;
  /** A recorded stream was sent to its end. Nothing more is read. */
  complete(): void;
  /** Nothing more is read. */
  refused(why: PlayRefusal): void;
}

/**
 * The client side of RTMP playback, without I/O: handshake, `connect`, `createStream`, `play`, then messages of media. Throws `FormatError` if the
 * server does not speak RTMP.
 */
export class RtmpPlayClient {
  readonly #handler: PlayClientHandler;
  readonly #connection: ClientConnection;
  #isPlaying = false;

  /** `allocate` provides the memory of messages. */
  constructor(handler: PlayClientHandler, place: RtmpPlace, allocate?: Allocate) {
    this.#handler = handler;
    const connection = new ClientConnection(
      {
        // Servers send only what a player says it can play; the numbers are those of the last Flash players.
        description: {
          ...{ flashVer: "LNX 9,0,124,2", fpad: false, capabilities: 15 },
          ...{ audioCodecs: 4071, videoCodecs: 252, videoFunction: 1 },
        },
        write: (bytes) => handler.write(bytes),
        connected: () => connection.line.setWindow(),
        created(streamId) {
          connection.line.reader.maxMessageBytes = MAX_MEDIA_BYTES;
          connection.line.command(streamId, "play", PLAY, null, place.streamName, LIVE_OR_RECORDED);
          connection.line.control(MESSAGE.userControl, setBufferPayload(streamId));
        },
        status: (info) => this.#status(info),
        message: (typeId, timestamp, payload) => this.#message(typeId, timestamp, payload),
        refused: (_reason, info) => this.#refused(info),
      },
      place,
      allocate,
    );
    this.#connection = connection;
  }

  /** Sends C0 and C1. */
  start(crypto: HandshakeCrypto): void {
    this.#connection.start(crypto);
  }

  push(bytes: Uint8Array): void {
    this.#connection.push(bytes);
  }

  #status({ code }: AmfObject): void {
    if (this.#connection.streamId === 0 || typeof code !== "string") return;
    if (code === "NetStream.Play.Start") this.#play();
    else if (LIVE_IS_OVER.has(code)) this.#end("over");
    // Some servers say it without the level of an error.
    else if (code === "NetStream.Play.StreamNotFound") this.#end("not-found");
  }

  #play(): void {
    if (this.#isPlaying) return;
    this.#isPlaying = true;
    this.#handler.playing();
  }

  #message(typeId: number, timestamp: number, payload: Uint8Array): void {
    if (this.#connection.streamId === 0) return;
    if (typeId === MESSAGE.video || typeId === MESSAGE.audio) {
      // Media says as much as a status, which some servers send later or not at all.
      this.#play();
      this.#handler.media(typeId === MESSAGE.video ? "video" : "audio", timestamp, payload);
    } else if (typeId === MESSAGE.aggregate) {
      for (const part of readAggregate(payload, timestamp))
        if (part.typeId !== MESSAGE.aggregate) this.#message(part.typeId, part.timestamp, part.payload);
    } else if (typeId === MESSAGE.dataAmf0) this.#data(timestamp, payload);
  }

  #data(timestamp: number, payload: Uint8Array): void {
    if (isComplete(payload)) {
      this.#connection.line.end();
      this.#handler.complete();
    } else this.#handler.media("data", timestamp, payload);
  }

  #refused(info: AmfObject): void {
    if (isRedirect(info)) return this.#handler.refused("redirect");
    this.#handler.refused(info.code === "NetStream.Play.StreamNotFound" ? "not-found" : "refused");
  }

  #end(why: PlayRefusal): void {
    this.#connection.line.end();
    this.#handler.refused(why);
  }
}

/** Asks for so much ahead (RTMP 1.0, 7.1.7). */
function setBufferPayload(streamId: number): Uint8Array {
  return Uint8Array.from([...userControlPayload(USER_CONTROL.setBufferLength, streamId), ...uint32Payload(BUFFER_MS)]);
}

/** A server sends this behind the last message of a recorded stream. */
function isComplete(payload: Uint8Array): boolean {
  if (payload.byteLength > MAX_STATUS_BYTES) return false;
  try {
    const [name, ...values] = readAmf0(payload);
    return name === "onPlayStatus" && values.some((value) => objectOf(value).code === "NetStream.Play.Complete");
  } catch (error) {
    // Metadata is of no consequence.
    if (error instanceof FormatError) return false;
    throw error;
  }
}
