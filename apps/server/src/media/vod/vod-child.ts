import { readSync, writeSync } from "node:fs";
import { setPriority } from "node:os";
import { inspect } from "node:util";
import { messageFrame, messageReader } from "../../platform/pipe-frames.ts";
import { encodeChunk } from "./chunk-encoder.ts";
import { scanFile } from "./file-scan.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import { SOURCES_PER_JOB, type VodJob, type VodMessage } from "./vod-protocol.ts";

/** The process that works on one file. It executes jobs until their pipe ends. Its writes block while the parent is slower. */

const JOBS = 3;
const OUTPUT = 4;
const FIRST_SOURCE = 5;
/**
 * After ingest, delivery and live transcoding. A scan has priority over encoding, since a user waits for it; a process can only raise its niceness.
 */
const NICENESS = { scan: 10, encode: 15 };
const FULL_PIPE_WAIT_MS = 2;

workAll().then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof FileRefused) send({ type: "refused", sentence: error.message });
    else if (error instanceof CannotCopy) send({ type: "cannot-copy", reason: error.message });
    else send({ type: "broken", reason: inspect(error) });
    process.exit(0);
  },
);

async function workAll(): Promise<void> {
  let source = FIRST_SOURCE;
  for (const job of readJobs()) {
    await work(job, [source, source + 1]);
    source += SOURCES_PER_JOB;
  }
}

async function work(job: VodJob, sources: readonly [number, number]): Promise<void> {
  setPriority(NICENESS[job.type]);
  if (job.type === "scan") return send({ type: "scanned", file: await scanFile(sources, job, send) });
  await encodeChunk(sources, job, send);
  send({ type: "encoded" });
}

function* readJobs(): Generator<VodJob, void> {
  const piece = Buffer.alloc(64 * 1024);
  const read = messageReader<VodJob>();
  for (let length = readSync(JOBS, piece); length > 0; length = readSync(JOBS, piece))
    yield* read(piece.subarray(0, length));
}

function send(message: VodMessage, pieces: readonly Uint8Array[] = []): void {
  const frame = messageFrame({ message }, pieces);
  for (let at = 0; at < frame.byteLength; ) at += writeSome(frame, at);
}

/** Returns the number of bytes that the pipe accepted. */
function writeSome(piece: Uint8Array, at: number): number {
  try {
    return writeSync(OUTPUT, piece, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_WAIT_MS);
    return 0;
  }
}
