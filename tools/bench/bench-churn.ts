import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { residentBytes } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import type { Row } from "./report.ts";

const STREAMS = 200;
const AT_ONCE = 40;
const STREAM_SECONDS = 14;
const REST_SECONDS = 100;
const STAGGER_MS = 50;

/** Memory that a server keeps after many short streams have ended. */
export async function measureChurn(server: BenchServer, clip: Clip): Promise<Row[]> {
  const before = residentBytes(server.pid);
  let most = before;
  let begun = 0;
  const broadcaster = async (nth: number): Promise<void> => {
    await wait(nth * STAGGER_MS);
    while (begun < STREAMS) {
      const { publishUrl } = await server.createStream(`churn ${begun++}`);
      const sender = await RtmpSender.start(publishUrl, clip);
      await wait(STREAM_SECONDS * 1000);
      await sender.stop();
      most = Math.max(most, residentBytes(server.pid));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => broadcaster(nth)));
  await wait(REST_SECONDS * 1000);
  const after = residentBytes(server.pid);
  const streams = `${STREAMS} streams of ${STREAM_SECONDS} s, ${AT_ONCE} at a time`;
  return [
    { what: "RSS of the main process before any stream", value: before / 1e6, unit: "MB" },
    { what: `the most during ${streams}`, value: most / 1e6, unit: "MB" },
    { what: `${REST_SECONDS} s after the last ended`, value: after / 1e6, unit: "MB" },
    { what: "the same, to before", value: after / before, unit: "times" },
  ];
}
