import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Asset, type Session, WeirClient } from "@weir/client";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { makeRunFolder } from "../../platform/run-folder.ts";
import { readConfig } from "../config.ts";
import { startPrivateServer } from "../private-server.ts";
import { restore } from "./restore.ts";

const ANSWER_WITHIN_MS = 20_000;
/** Of recordings and of assets each, the newest. */
const PLAYED = 50;

export interface DrillSettings {
  readonly from: string;
  /** Where the copy is made, and removed again. */
  readonly in: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onProgress: (what: string, done: number, of: number) => void;
}

export interface DrillReport {
  readonly takenAt: number;
  readonly objects: number | null;
  readonly streams: number;
  readonly recordings: number;
  readonly assets: number;
  /** How many of the newest were played. */
  readonly played: number;
  /** A sentence for each that did not. */
  readonly failures: readonly string[];
}

/**
 * Restore a backup into a folder of its own, start a server on it that only this machine reaches and that calls nobody, play the newest recordings
 * and assets, and remove it all.
 */
export async function drill({ from, clock, log, onProgress, ...settings }: DrillSettings): Promise<DrillReport> {
  const folder = await makeRunFolder(settings.in, "weir-drill-", clock.now());
  try {
    const config = readConfig({ WEIR_DATA_DIR: join(folder.path, "data") });
    const manifest = await restore({ config, clock, log, from, onProgress });
    const apiKey = randomBytes(24).toString("hex");
    const server = await startPrivateServer({
      dataDir: config.dataDir,
      apiKey,
      // Without the worker, no webhook is called and nothing is deleted.
      settings: { WEIR_ROLES: "api,media" },
      name: "the restored server",
    });
    try {
      const report = await play(new WeirClient({ baseUrl: server.url, apiKey }), manifest.objects !== null);
      return { takenAt: manifest.takenAt, objects: manifest.objects?.count ?? null, ...report };
    } finally {
      await server.stop();
    }
  } finally {
    await folder.remove();
  }
}

async function play(client: WeirClient, hasObjects: boolean): Promise<Omit<DrillReport, "takenAt" | "objects">> {
  const counts = { streams: 0, recordings: 0, assets: 0 };
  for await (const _ of client.streams.each({ limit: 1000 })) counts.streams++;
  const recordings: Session[] = [];
  for await (const session of client.sessions.each({ limit: 1000 })) {
    if (session.recordingStatus !== "ready" || !session.recordingUrl) continue;
    counts.recordings++;
    if (recordings.length < PLAYED) recordings.push(session);
  }
  const assets: Asset[] = [];
  for await (const asset of client.assets.each({ limit: 1000, phase: "ready" })) {
    counts.assets++;
    if (assets.length < PLAYED) assets.push(asset);
  }
  const tried = [
    ...recordings.map(({ id, recordingUrl }) => ({ what: `recording of session ${id}`, url: recordingUrl })),
    ...assets.map(({ id, playbackUrl }) => ({ what: `asset ${id}`, url: playbackUrl })),
  ].filter((one): one is { what: string; url: string } => hasObjects && one.url !== undefined);
  const failures: string[] = [];
  for (const { what, url } of tried) {
    const problem = await problemWith(client, url).catch((error: Error) => error.message);
    if (problem !== null) failures.push(`the ${what} does not play: ${problem}`);
  }
  return { ...counts, played: tried.length, failures };
}

/** Why the first segment of every rendition cannot be read; null if it can. */
async function problemWith(client: WeirClient, address: string): Promise<string | null> {
  // `/recordings/{playbackId}/index.m3u8`, and others that end like it.
  const playbackId = new URL(address).pathname.split("/").at(-2) ?? "";
  const { token } = await client.access.ownerToken(playbackId);
  const master = new URL(address);
  master.searchParams.set("jwt", token);
  const renditions = linesOf(await textOf(master), /^(?!#)\S+/gm);
  for (const rendition of renditions) {
    const playlist = new URL(rendition, master);
    const text = await textOf(playlist);
    const [segment] = linesOf(text, /^(?!#)\S+/gm);
    const parts = [...linesOf(text, /#EXT-X-MAP:URI="([^"]+)"/g), ...(segment === undefined ? [] : [segment])];
    for (const part of parts) if ((await bytesOf(new URL(part, playlist))) === 0) return `${part} is empty`;
  }
  return renditions.length === 0 ? "its playlist is empty" : null;
}

const linesOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((found) => found[1] ?? found[0]);

async function answerOf(url: URL): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  if (!response.ok) throw new Error(`${url.pathname} is answered with ${response.status}`);
  return response;
}

const textOf = async (url: URL): Promise<string> => (await answerOf(url)).text();
const bytesOf = async (url: URL): Promise<number> => (await (await answerOf(url)).arrayBuffer()).byteLength;
