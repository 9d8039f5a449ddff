/** For tests: runs the pipeline's steps on a file. */
import { openSync } from "node:fs";
import { planAsset } from "./asset-ladder.ts";
import { encodeChunk } from "./chunk-encoder.ts";
import { planChunks } from "./chunk-plan.ts";
import { scanFile } from "./file-scan.ts";
import { CannotCopy } from "./refusal.ts";
import type { MadeSpan, ScannedFile, VodMessage } from "./vod-protocol.ts";

/** The renditions of a file, each as a fragmented MP4. */
export interface Processed {
  readonly file: ScannedFile;
  readonly isCopied: boolean;
  readonly spans: readonly MadeSpan[];
  readonly renditions: ReadonlyMap<string, Buffer>;
}

/** Scans and encodes in this process: starting children takes longer than processing tiny files. */
export async function processHere(path: string): Promise<Processed> {
  const job = { type: "scan", epoch: 1, segmentSeconds: 1, mayCopyVideo: true } as const;
  const copied = collect();
  const scanned = await scanFile(twice(path), job, copied.send).catch((error: unknown) => {
    if (error instanceof CannotCopy) return null;
    throw error;
  });
  const anew = scanned ? copied : collect();
  const file = scanned ?? (await scanFile(twice(path), { ...job, mayCopyVideo: false }, anew.send));
  const { picture } = file;
  const rungs = picture ? planAsset(picture, [{ name: "small", height: 128, bitrate: 200_000 }]) : [];
  for (const chunk of picture ? planChunks(picture, 1) : []) {
    if (!picture) break;
    await encodeChunk(
      twice(path),
      { type: "encode", epoch: 1, picture, rungs, preset: "ultrafast", delayTicks: 0, ...chunk },
      anew.send,
    );
  }
  const renditions = new Map([...anew.files].map(([name, pieces]) => [name, Buffer.concat(pieces)]));
  return { file, isCopied: picture?.isCopied ?? false, spans: anew.spans, renditions };
}

/** Two independent descriptors of the same file. They are closed with the process. */
function twice(path: string): readonly [number, number] {
  return [openSync(path, "r"), openSync(path, "r")];
}

function collect() {
  const files = new Map<string, Uint8Array[]>();
  const spans: MadeSpan[] = [];
  return {
    files,
    spans,
    send: (message: VodMessage, bytes: readonly Uint8Array[] = []) => {
      if (message.type === "span") spans.push(message);
      if (message.type !== "span" && message.type !== "init") return;
      // The init segment is the same in every chunk.
      const known = files.get(message.rendition);
      if (message.type === "init" && known) return;
      files.set(message.rendition, [...(known ?? []), ...bytes.map((piece) => Uint8Array.from(piece))]);
    },
  };
}
