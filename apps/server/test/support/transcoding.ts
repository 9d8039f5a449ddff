import { readdirSync, readFileSync } from "node:fs";
import type { NewStream, TranscodeEvent } from "@weir/contract";
import pg from "pg";
import { expect } from "vitest";
import { openRunFolder } from "../../src/platform/data-folder.ts";
import type { WeirProcess } from "./weir-process.ts";
import type { WeirServer } from "./weir-server.ts";

/** Two cheap rungs: 426x240 and 320x180. */
export const SMALL_LADDER: NonNullable<NewStream["profiles"]> = [
  { name: "240p0", width: 426, height: 240, bitrate: 250_000, fps: 0 },
  { name: "180p0", width: 320, height: 180, bitrate: 150_000, fps: 0 },
];

/** Kills the transcoding child of the newest ladder. */
export function killTranscoder(weir: WeirProcess): void {
  process.kill(newestTranscoder(weir), "SIGKILL");
}

/** The process that transcodes the newest ladder: the second newest child, since the newest is the warm spare. */
export function newestTranscoder(weir: WeirProcess): number {
  return transcoderPids(weir).at(-2) ?? expect.fail("nothing is transcoded");
}

/** Oldest first. Linux only. */
export function transcoderPids({ pid }: WeirProcess): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").map(Number),
  );
  return children.filter(isTranscoder).sort((a, b) => startedAt(a) - startedAt(b));
}

/** The events of a stream in order, read from the database. */
export async function transcodeEvents(weir: WeirServer, streamId: string): Promise<TranscodeEvent[]> {
  const database = new pg.Client({ host: openRunFolder(weir.dataFolder), user: "weir", database: "postgres" });
  await database.connect();
  try {
    const query = "select data from event_telemetry where subject_id = $1 and type = 'transcode' order by seq";
    return (await database.query<{ data: TranscodeEvent }>(query, [streamId])).rows.map(({ data }) => data);
  } finally {
    await database.end();
  }
}

function isTranscoder(pid: number): boolean {
  return pid > 0 && readProc(pid, "cmdline").includes("transcode-child.ts");
}

/** Start time in clock ticks: the 20th field after the process name, which may contain anything. */
function startedAt(pid: number): number {
  const stat = readProc(pid, "stat");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
}

/** Empty for an exited process. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
