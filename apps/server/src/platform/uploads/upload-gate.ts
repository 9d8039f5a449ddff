/** What uploads are for: asked before a byte is kept, and told when all of them are here. It decides who may upload what; this folder only moves bytes. */
export interface UploadGate {
  /** Which upload this token is for. Throws `UploadRefused`. `bytes`, where they are declared, count against what may be stored. */
  admit(token: string | null, bytes: number | null): Promise<AdmittedUpload>;
  /** Bytes came: the upload is not given up. */
  touched(id: string): Promise<void>;
  /** All bytes are on this node's disk. Throws `UploadRefused` where nobody wants them any more. */
  received(id: string, bytes: number): Promise<void>;
  /** Where they go in the object store; null where nobody wants them any more. */
  keyOf(id: string): Promise<string | null>;
  /** They are in the object store. */
  stored(id: string, key: string): Promise<void>;
  /** Which of these are still wanted. */
  wanted(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface AdmittedUpload {
  readonly id: string;
  readonly maxBytes: number;
}
