export {
  type Asset,
  type ClientOptions,
  type SourceProgress,
  type Stream,
  type StreamEvent,
  type StreamHealth,
  WeirClient,
  WeirError,
} from "@weir/client";
export type { PlaybackFigures, StageState, StateChange } from "@weir/player";
export type { BroadcastFigures, BroadcastState, BroadcastStateChange } from "@weir/player/broadcast";
export type { StreamReader, Uploader } from "./clients.ts";
export { type Polled, useStream, useStreamHealth } from "./use-stream.ts";
export { type StreamEventOptions, type StreamEvents, useStreamEvents } from "./use-stream-events.ts";
export { type Upload, useUpload } from "./use-upload.ts";
export { WeirBroadcast, type WeirBroadcastElement, type WeirBroadcastProps } from "./weir-broadcast.ts";
export { WeirPlayer, type WeirPlayerElement, type WeirPlayerProps } from "./weir-player.ts";
