import { type Clip, makeClip } from "./clip.ts";
import { LiveViewer, type ViewerCounts } from "./live-viewer.ts";
import type { LoadOrder, LoadReport } from "./load-process.ts";
import { RtmpSender } from "./rtmp-sender.ts";

/** Publishers and viewers in a process of their own. Takes one order at a time over IPC, and answers each. */

const STAGGER_MS = 20;
/** Each address of loopback is a client, with limits of its own. */
const ADDRESSES = 40;
const counts: ViewerCounts = { requests: 0, longestMs: 0, failures: [] };
const senders: RtmpSender[] = [];
const viewers: { stop(): void }[] = [];
let clip: Promise<Clip> | null = null;

async function carryOut(order: LoadOrder): Promise<void> {
  switch (order.type) {
    case "publish":
      clip ??= makeClip();
      for (const url of order.urls) {
        senders.push(await RtmpSender.start(url, await clip, address(senders.length)));
        await pause(STAGGER_MS);
      }
      return;
    case "watch":
      for (let n = 0; n < order.count; n++) {
        const nth = viewers.length;
        viewers.push(await LiveViewer.start(order.url, `capacity-${process.pid}-${nth}`, address(nth), counts));
      }
      return;
    case "whep": {
      // Loaded only where it is needed: it starts threads.
      const { WhepViewer } = await import("./whep-viewer.ts");
      for (let n = 0; n < order.count; n++) viewers.push(await WhepViewer.start(order.url));
      return;
    }
    case "counts":
      return;
  }
}

const address = (nth: number): string => `127.0.0.${1 + (nth % ADDRESSES)}`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function report(failure: string | null): LoadReport {
  const lost = senders.flatMap(({ isOpen }, nth) => (isOpen ? [] : [`publisher ${nth} lost its connection`]));
  return { ...counts, failures: [...counts.failures, ...lost], failure };
}

process.on("message", (order: LoadOrder) => {
  carryOut(order).then(
    () => process.send?.(report(null)),
    (error: Error) => process.send?.(report(error.message)),
  );
});
// The parent ends the load by ending the connection, also when it dies.
process.on("disconnect", async () => {
  for (const viewer of viewers) viewer.stop();
  await Promise.all(senders.map((sender) => sender.stop()));
  process.exit(0);
});
