/**
 * The purpose of uploads: asked before a byte is kept, and told when all have arrived. The gate decides who may upload; this folder only moves
 * bytes.
 */
export interface UploadGate {
  /** The upload that this token is for. Throws `UploadRefused`. Declared `bytes` count against the quota. */
  admit(token: string | null, bytes: number | null): Promise<AdmittedUpload>;
  /** Bytes arrived, so the upload is not abandoned. */
  touched(id: string): Promise<void>;
  /** All bytes are on this node's disk. Throws `UploadRefused` if the file is no longer wanted. */
  received(id: string, bytes: number): Promise<void>;
  /** The key in the object store; null if the file is no longer wanted. */
  keyOf(id: string): Promise<string | null>;
  /** The file is in the object store. */
  stored(id: string, key: string): Promise<void>;
  /** Those of these that are still wanted. */
  wanted(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface AdmittedUpload {
  readonly id: string;
  readonly maxBytes: number;
}
