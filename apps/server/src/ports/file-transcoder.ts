/** A customer's file goes through the encoder and back to a bucket of theirs: the domain floor says from where to where, the media floor does it. */

import type { AssetProfile, VideoSpec } from "./asset-processor.ts";
import type { TaskRun } from "./task-run.ts";

/** A bucket of an S3 store of the customer's. Its credentials are secrets. */
export interface CustomerBucket {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface TranscodeWork {
  readonly taskId: string;
  readonly projectId: string;
  /** Rises when the owner starts anew. */
  readonly attempt: number;
  readonly input: { readonly url: string } | { readonly bucket: CustomerBucket; readonly key: string };
  readonly storage: CustomerBucket;
  /** Folders of the bucket, each `""` or with a slash at the end. */
  readonly outputs: { readonly hls: readonly string[]; readonly mp4: readonly string[] };
  /** Null for the default ladder. */
  readonly profiles: readonly AssetProfile[] | null;
  readonly targetSegmentSeconds: number | null;
  /** The largest file that is taken. */
  readonly maxBytes: number;
}

/** Everything of a task in the object store lies under this while it is worked on. */
export function transcodePrefix(projectId: string, taskId: string): string {
  return `v1/${projectId}/transcode/${taskId}/`;
}

export interface FileTranscoder {
  /**
   * From the input to everything written. Throws `TaskFailed`, and other errors for temporary faults: the next run then continues behind the
   * finished work of this one.
   */
  transcode(work: TranscodeWork, run: TaskRun): Promise<VideoSpec>;
}
