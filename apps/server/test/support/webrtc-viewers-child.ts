import { WrappedCounter } from "@weir/formats/bits";
import { readRtpPacket } from "@weir/formats/rtp";
import { WhepViewer } from "../../src/roles/capacity/whep-viewer.ts";

/** Many WHEP viewers in a separate process: `node webrtc-viewers-child.ts URL COUNT`. Prints a line of JSON per second. */

const [url = "", count = "1"] = process.argv.slice(2);

interface Viewer {
  pictures: number;
  packets: number;
  bytes: number;
  lost: number;
}

const viewers: Viewer[] = [];
/** Referenced here because the library closes connections that are garbage-collected. */
const held: unknown[] = [];

async function watch(): Promise<void> {
  const viewer: Viewer = { pictures: 0, packets: 0, bytes: 0, lost: 0 };
  const counter = new WrappedCounter(16);
  let highest: number | null = null;
  const take = (message: Buffer): void => {
    const packet = readRtpPacket(message);
    if (!packet) return;
    const number = counter.unwrap(packet.sequence);
    if (highest !== null && number > highest + 1) viewer.lost += number - highest - 1;
    highest = Math.max(highest ?? number, number);
    viewer.packets++;
    viewer.bytes += message.length;
    if (packet.marker) viewer.pictures++;
  };
  held.push(await WhepViewer.start(url, take));
  viewers.push(viewer);
}

process.on("disconnect", () => process.exit(0));
setInterval(() => {
  const sum = (of: keyof Viewer) => viewers.reduce((total, viewer) => total + viewer[of], 0);
  console.log(
    JSON.stringify({
      viewers: viewers.length,
      leastPictures: Math.min(...viewers.map(({ pictures }) => pictures)),
      bytes: sum("bytes"),
      lost: sum("lost"),
    }),
  );
}, 1000);
for (let made = 0; made < Number(count); made++) await watch();
