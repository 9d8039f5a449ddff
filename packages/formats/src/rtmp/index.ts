export { type RtmpAddress, rtmpAddressOf } from "./address.ts";
export { type AmfObject, type AmfValue, readAmf0, writeAmf0 } from "./amf0.ts";
export { ChunkReader, type MessageHandler } from "./chunk-reader.ts";
export { chunkedBytes, type MessageHeader, type OutgoingMessage, putMessage, writeMessage } from "./chunk-writer.ts";
export {
  answerHandshake,
  CLIENT_HELLO_BYTES,
  clientHello,
  HANDSHAKE_BYTES,
  type HandshakeCrypto,
} from "./handshake.ts";
export {
  type Command,
  MESSAGE,
  peerBandwidthPayload,
  readCommand,
  readMetadata,
  readUint32,
  USER_CONTROL,
  uint32Payload,
  userControlPayload,
  writeCommand,
} from "./message.ts";
export { MessageLine } from "./message-line.ts";
export { type PlayRefusal, RtmpPlayClient } from "./play-client.ts";
export { CLIENT_CHUNK_SIZE, metadataPayload, RtmpPublishClient } from "./publish-client.ts";
