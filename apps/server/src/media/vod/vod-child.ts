import { readSync, writeSync } from "node:fs";
import { setPriority } from "node:os";
import { inspect } from "node:util";
import { AV_LOG_QUIET } from "node-av/constants";
import { Log } from "node-av/lib";
import { encodeChunk } from "./chunk-encoder.ts";
import { scanFile } from "./file-scan.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import { frameMessage, SOURCES_PER_JOB, type VodJob, type VodMessage } from "./vod-protocol.ts";

/** The process that works on one file. It executes jobs until their pipe ends. Its writes block while the parent is slower. */

const JOBS = 3;
const OUTPUT = 4;
const FIRST_SOURCE = 5;
/**
 * After ingest, delivery and live transcoding. A scan has priority over encoding, since a user waits for it; a process can only raise its niceness.
 */
const NICENESS = { scan: 10, encode: 15 };
const FULL_PIPE_WAIT_MS = 2;

// A hostile file could make FFmpeg log without limit.
Log.setLevel(AV_LOG_QUIET);
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
  let waiting = Buffer.alloc(0);
  for (let length = readSync(JOBS, piece); length > 0; length = readSync(JOBS, piece)) {
    waiting = Buffer.concat([waiting, piece.subarray(0, length)]);
    for (let end = waiting.indexOf("\n"); end >= 0; end = waiting.indexOf("\n")) {
      yield JSON.parse(waiting.toString("utf8", 0, end));
      waiting = waiting.subarray(end + 1);
    }
  }
}

/** A span has a piece for each sample, and a write for each would take longer than making them. */
const written = Buffer.alloc(64 * 1024);

function send(message: VodMessage, bytes: readonly Uint8Array[] = []): void {
  let filled = 0;
  for (const piece of frameMessage(message, bytes)) {
    for (let at = 0; at < piece.byteLength; ) {
      const part = piece.subarray(at, at + written.byteLength - filled);
      written.set(part, filled);
      filled += part.byteLength;
      at += part.byteLength;
      if (filled === written.byteLength) {
        write(written);
        filled = 0;
      }
    }
  }
  write(written.subarray(0, filled));
}

function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength; ) at += writeSome(bytes, at);
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
