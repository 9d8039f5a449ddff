import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PublisherOptions, startPublisher } from "./publisher.ts";

/** One RTMP message from a real encoder's output. */
export interface FlvTag {
  readonly typeId: number;
  readonly timeMs: number;
  readonly payload: Uint8Array;
}

const HEADER_BYTES = 13;
const TAG_HEADER_BYTES = 11;
const PREVIOUS_SIZE_BYTES = 4;

/** The output of a real encoder for this many seconds. */
export async function encodeFlv(options: Omit<PublisherOptions, "url">): Promise<FlvTag[]> {
  return readTags(await makeClip(options));
}

/** The same output as a file. */
export async function makeClip(options: Omit<PublisherOptions, "url">): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "weir-flv-"));
  try {
    const path = join(folder, "clip.flv");
    const publisher = await startPublisher({ ...options, url: path });
    const problem = await publisher.ended;
    if (problem) throw new Error(problem);
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** All messages of a file. */
export async function readFlv(path: string): Promise<FlvTag[]> {
  return readTags(await readFile(path));
}

function readTags(file: Buffer): FlvTag[] {
  const tags: FlvTag[] = [];
  for (let at = HEADER_BYTES; at + TAG_HEADER_BYTES <= file.length; ) {
    const bytes = file.readUIntBE(at + 1, 3);
    const timeMs = file.readUIntBE(at + 4, 3) + file.readUInt8(at + 7) * 2 ** 24;
    const payload = file.subarray(at + TAG_HEADER_BYTES, at + TAG_HEADER_BYTES + bytes);
    tags.push({ typeId: file.readUInt8(at), timeMs, payload });
    at += TAG_HEADER_BYTES + bytes + PREVIOUS_SIZE_BYTES;
  }
  return tags;
}
