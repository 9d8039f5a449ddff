/**
 * The purpose of uploads: asked before a byte is kept, and told when all have arrived. The gate decides who may upload; this folder only moves
 * bytes.
 */
export interface UploadGate {
  /**
   * The upload that this token is for, which belongs to this node's spool from now on. Throws `UploadRefused`, also if it belongs to another one.
   * Declared `bytes` count against the quota.
   */
  admit(token: string | null, bytes: number | null): Promise<AdmittedUpload>;
  /** This node's spool has nothing of the upload any more: any node may take it. */
  released(id: string): Promise<void>;
  /** The other running node whose spool has the upload; null if none has. */
  elsewhere(id: string): Promise<string | null>;
  /** Bytes arrived, so the upload is not abandoned. */
  touched(id: string): Promise<void>;
  /**
   * All bytes are on this node's disk. Resolves to their key in the object store. Called again for the same file if a kill came between two
   * steps. Throws `UploadRefused` if the file is no longer wanted.
   */
  received(id: string, bytes: number): Promise<string>;
  /** The file is in the object store, under the key from `received`. */
  stored(id: string): Promise<void>;
  /** Those of these that are still wanted. */
  wanted(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface AdmittedUpload {
  readonly id: string;
  readonly maxBytes: number;
}
