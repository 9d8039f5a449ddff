import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import { median, type Row } from "./report.ts";

const CLIPS = 5;
const CLIP_MS = 6_000;
/** The live window must contain the clipped time. */
const SETTLE_MS = 14_000;
const GIVE_UP_MS = 30_000;
const POLL_MS = 50;

/** Time from requesting a clip of a running stream's last seconds until it plays, with and without recording. `clip` has B-frames. */
export async function measureClips(server: BenchServer, clip: Clip): Promise<Row[]> {
  const rows: Row[] = [];
  for (const record of [true, false]) {
    const { publishUrl, playbackId } = await server.createStream(`clips ${record}`, [], record);
    const sender = await RtmpSender.start(publishUrl, clip);
    try {
      await wait(SETTLE_MS);
      const times: number[] = [];
      for (let nth = 0; nth < CLIPS; nth++) times.push(await clipTime(server, playbackId));
      const what = `the last ${CLIP_MS / 1000} s of a running stream${record ? "" : " that is not recorded"}, until they play`;
      rows.push({ what: `${what}, median of ${CLIPS}`, value: median(times) / 1000, unit: "s" });
      rows.push({ what: `${what}, worst of ${CLIPS}`, value: Math.max(...times) / 1000, unit: "s" });
    } finally {
      await sender.stop();
    }
  }
  return rows;
}

async function clipTime({ client }: BenchServer, playbackId: string): Promise<number> {
  const [startedAt, endTime] = [performance.now(), Date.now()];
  const { asset } = await client.clips.create({ playbackId, startTime: endTime - CLIP_MS, endTime });
  while (performance.now() - startedAt < GIVE_UP_MS) {
    const { status, playbackUrl } = await client.assets.get(asset.id);
    if (status.phase === "failed") throw new Error(status.errorMessage ?? "a clip failed");
    if (status.phase === "ready" && playbackUrl && (await fetch(playbackUrl)).ok) return performance.now() - startedAt;
    await wait(POLL_MS);
  }
  throw new Error(`a clip was not ready within ${GIVE_UP_MS} ms`);
}
