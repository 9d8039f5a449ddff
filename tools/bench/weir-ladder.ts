import type { Rung } from "../../apps/server/src/media/ladder/ladder-plan.ts";
import { type FromChild, frameOf, TranscodePool } from "../../apps/server/src/media/transcode/index.ts";
import { systemClock } from "../../apps/server/src/platform/clock.ts";
import { silentLog } from "../../apps/server/src/platform/log.ts";
import { Slices } from "../../apps/server/src/platform/slices.ts";
import { costOf } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { type LadderSource, writeByteStream } from "./ladder-source.ts";

/** The output of one encoder: one file per rung, in order. */
export interface LadderRun {
  readonly cpuSeconds: number;
  readonly paths: readonly string[];
}

/**
 * Transcodes the source with a child of the server's transcode pool. CPU is counted from when the encoders are open, since the pool starts children
 * in advance.
 */
export async function runWeirLadder(
  source: LadderSource,
  rungs: readonly Rung[],
  preset: string,
  folder: string,
): Promise<LadderRun> {
  const pool = new TranscodePool(silentLog, new Slices(systemClock));
  try {
    const { configs, pictures, cpuSeconds } = await transcode(pool, source, rungs, preset);
    const paths: string[] = [];
    for (const { index, name } of rungs) {
      const made = pictures.get(index) ?? [];
      const config = configs.get(index);
      if (!config || made.length !== source.pictures.length)
        throw new Error(`the rung ${name} has ${made.length} of ${source.pictures.length} pictures`);
      const path = `${folder}/weir-${name}.h264`;
      await writeByteStream(path, config, made);
      paths.push(path);
    }
    return { cpuSeconds, paths };
  } finally {
    pool.close();
  }
}

interface Made {
  /** By rung index. */
  readonly configs: ReadonlyMap<number, Uint8Array>;
  readonly pictures: ReadonlyMap<number, readonly Uint8Array[]>;
  readonly cpuSeconds: number;
}

function transcode(pool: TranscodePool, source: LadderSource, rungs: readonly Rung[], preset: string): Promise<Made> {
  const { promise, resolve, reject } = Promise.withResolvers<Made>();
  const configs = new Map<number, Uint8Array>();
  const pictures = new Map<number, Uint8Array[]>(rungs.map(({ index }) => [index, []]));
  let cpuBefore = 0;
  const message = (told: FromChild): void => {
    if (told.type === "ready") {
      for (const { index, config } of told.rungs) configs.set(index, Buffer.from(config, "base64"));
      cpuBefore = costOf([child.pid]).cpuSeconds;
      for (const frame of framesOf(source)) child.send(frame);
    } else if (told.type === "packet") pictures.get(told.rung)?.push(told.data);
    else if (told.type === "flushed")
      resolve({ configs, pictures, cpuSeconds: costOf([child.pid]).cpuSeconds - cpuBefore });
    else if (told.type === "error") reject(new Error(told.message));
  };
  const child = pool.take({ message, exited: (reason) => reject(new Error(reason)) });
  const { width, height } = source;
  const video = { codec: "avc", width, height, config: Buffer.from(source.config).toString("base64") } as const;
  child.send(frameOf({ type: "start", start: { video, rungs, preset, encoder: "libx264" } }));
  return promise;
}

/** Starts a segment at each keyframe. */
function* framesOf({ pictures }: LadderSource): Generator<Uint8Array> {
  let msn = 0;
  for (const { isIndependent, ticks, data } of pictures) {
    if (isIndependent) yield frameOf({ type: "cut", msn: msn++, ticks });
    yield frameOf({ type: "packet", isIndependent, dts: ticks, pts: ticks, data });
  }
  yield frameOf({ type: "flush", id: 1 });
}
