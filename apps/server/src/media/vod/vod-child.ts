import { readSync, writeSync } from "node:fs";
import { setPriority } from "node:os";
import { AV_LOG_QUIET } from "node-av/constants";
import { Log } from "node-av/lib";
import { encodeChunk } from "./chunk-encoder.ts";
import { scanFile } from "./file-scan.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import { frameMessage, type VodJob, type VodMessage } from "./vod-protocol.ts";

/** The process that works on one file: does the one job that it is given, and ends. It blocks where its parent is slower than it is. */

const JOB = 3;
const OUTPUT = 4;
/** The same file twice: a reader that is opened anew begins at the beginning. */
const SOURCES = [5, 6] as const;
/** After ingest, delivery and live transcoding. */
const NICENESS = 15;
const FULL_PIPE_WAIT_MS = 2;

setPriority(NICENESS);
// What FFmpeg says of a hostile file has no end.
Log.setLevel(AV_LOG_QUIET);
work(readJob()).then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof FileRefused) send({ type: "refused", sentence: error.message });
    else if (error instanceof CannotCopy) send({ type: "cannot-copy", reason: error.message });
    else throw error;
    process.exit(0);
  },
);

async function work(job: VodJob): Promise<void> {
  if (job.type === "scan") send({ type: "scanned", file: await scanFile(SOURCES, job, send) });
  else {
    await encodeChunk(SOURCES, job, send);
    send({ type: "encoded" });
  }
}

function readJob(): VodJob {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = Buffer.alloc(64 * 1024);
    const length = readSync(JOB, piece);
    if (length === 0) return JSON.parse(Buffer.concat(pieces).toString("utf8"));
    pieces.push(piece.subarray(0, length));
  }
}

function send(message: VodMessage, bytes: readonly Uint8Array[] = []): void {
  for (const piece of frameMessage(message, bytes)) {
    for (let at = 0; at < piece.byteLength; ) at += writeSome(piece, at);
  }
}

/** How much of it the pipe took. */
function writeSome(piece: Uint8Array, at: number): number {
  try {
    return writeSync(OUTPUT, piece, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_WAIT_MS);
    return 0;
  }
}
