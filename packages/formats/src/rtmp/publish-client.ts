import { type AmfObject, writeAmf0 } from "./amf0.ts";
import { ClientConnection, type RtmpPlace } from "./client-connection.ts";
import type { HandshakeCrypto } from "./handshake.ts";

/** Chunk size of a publishing client after `connect` succeeded. */
export const CLIENT_CHUNK_SIZE = 4096;
/** AMF0 marker of the object type that servers expect for metadata. */
const ECMA_ARRAY = 0x08;
const [RELEASE, FC_PUBLISH, PUBLISH] = [2, 3, 5];

export interface PublishClientHandler {
  write(bytes: Uint8Array): void;
  /** The server accepts media, in messages with this stream id. */
  publishing(streamId: number): void;
  /** The server refused or ended the broadcast for `reason`, in its own words. Send nothing more. */
  refused(reason: string): void;
}

/**
 * The client side of RTMP publishing, without I/O: handshake, `connect`, `createStream`, `publish`. After `publishing` the owner sends the media.
 * Throws `FormatError` if the server does not speak RTMP.
 */
export class RtmpPublishClient {
  readonly #connection: ClientConnection;
  readonly #streamName: string;

  constructor(handler: PublishClientHandler, place: RtmpPlace) {
    const { streamName } = place;
    this.#streamName = streamName;
    const connection = new ClientConnection(
      {
        description: { type: "nonprivate", flashVer: "FMLE/3.0 (compatible; Weir)" },
        write: (bytes) => handler.write(bytes),
        connected() {
          connection.line.setChunkSize(CLIENT_CHUNK_SIZE);
          connection.line.command(0, "releaseStream", RELEASE, null, streamName);
          connection.line.command(0, "FCPublish", FC_PUBLISH, null, streamName);
        },
        created: (streamId) => connection.line.command(streamId, "publish", PUBLISH, null, streamName, "live"),
        status({ code }) {
          if (code === "NetStream.Publish.Start" && connection.streamId !== 0) handler.publishing(connection.streamId);
        },
        message() {}, // a publisher needs no other message
        refused: (reason) => handler.refused(reason),
      },
      place,
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

  /** Ends the broadcast explicitly, so that the server does not wait for a reconnect. */
  stop(): void {
    const { line, streamId } = this.#connection;
    if (line.isOver || streamId === 0) return;
    line.end();
    line.command(0, "FCUnpublish", PUBLISH + 1, null, this.#streamName);
    line.command(0, "deleteStream", PUBLISH + 2, null, streamId);
  }
}

/** Payload of the data message that describes the media to a server (FLV 1.0, annex E.5). */
export function metadataPayload(metadata: AmfObject): Uint8Array {
  const [, ...properties] = writeAmf0(metadata);
  const count = Object.keys(metadata).length;
  return Uint8Array.from([...writeAmf0("@setDataFrame", "onMetaData"), ECMA_ARRAY, 0, 0, 0, count, ...properties]);
}
