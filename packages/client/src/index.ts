export type * from "@weir/contract";
export { type AccessJwt, signAccessJwt } from "./access-jwt.ts";
export type {
  AssetCreation,
  AssetFile,
  CreateAssetOptions,
  SourceProgress,
  UploadMemory,
} from "./asset-creation.ts";
export type { AssetListOptions } from "./assets.ts";
export type { EventOptions } from "./events.ts";
export type { ListOptions, Page } from "./page.ts";
export { PauseSwitch } from "./pause-switch.ts";
export type { SessionListOptions } from "./sessions.ts";
export type { StreamDeleteOptions, StreamListOptions } from "./streams.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export { type FileUpload, uploadFile } from "./upload-file.ts";
export { type SignedBody, verifyWebhook } from "./webhook-signature.ts";
export type { WebhookLogOptions } from "./webhooks.ts";
export { WeirClient } from "./weir-client.ts";
export { type ClientErrorCode, WeirError, type WeirErrorCode, type WeirErrorDetails } from "./weir-error.ts";
