import { WrappedCounter } from "@weir/formats/bits";
import { readRtpPacket } from "@weir/formats/rtp";
import nodeDataChannel, { type PeerConnection } from "node-datachannel";

/** Many WHEP viewers in a separate process: `node webrtc-viewers-child.ts URL COUNT`. Prints a line of JSON per second. */

const { PeerConnection: Connection, Audio, Video } = nodeDataChannel;
const [url = "", count = "1"] = process.argv.slice(2);
const TRIES = 5;

interface Viewer {
  pictures: number;
  packets: number;
  bytes: number;
  lost: number;
}

const viewers: Viewer[] = [];
/** Referenced here because the library closes connections that are garbage-collected. */
const held: unknown[] = [];

/** Number of retries: the library's offer fails occasionally if the answer arrives before its own description is set. */
async function watch(tries = TRIES): Promise<void> {
  const viewer: Viewer = { pictures: 0, packets: 0, bytes: 0, lost: 0 };
  const counter = new WrappedCounter(16);
  let highest: number | null = null;
  const pc: PeerConnection = new Connection("viewer", {
    iceServers: [],
    bindAddress: "127.0.0.1",
    disableAutoNegotiation: true,
  });
  const video = new Video("0", "RecvOnly");
  video.addH264Codec(96, "profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1");
  const audio = new Audio("1", "RecvOnly");
  audio.addOpusCodec(111);
  const track = pc.addTrack(video);
  const sound = pc.addTrack(audio);
  sound.onMessage(() => {});
  track.onMessage((message) => {
    const packet = readRtpPacket(message);
    if (!packet) return;
    const number = counter.unwrap(packet.sequence);
    if (highest !== null && number > highest + 1) viewer.lost += number - highest - 1;
    highest = Math.max(highest ?? number, number);
    viewer.packets++;
    viewer.bytes += message.length;
    if (packet.marker) viewer.pictures++;
  });
  const gathered = new Promise<void>((resolve) => {
    pc.onGatheringStateChange((state) => state === "complete" && resolve());
  });
  const connected = new Promise<boolean>((resolve) => {
    pc.onStateChange((state) => {
      if (state === "connected") resolve(true);
      if (state === "failed" || state === "closed") resolve(false);
    });
  });
  pc.setLocalDescription("offer");
  await gathered;
  const body = pc.localDescription()?.sdp ?? "";
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/sdp" }, body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  const sdp = await answer.text();
  if (takes(pc, sdp) && (await connected)) {
    viewers.push(viewer);
    held.push(pc, track, sound);
    return;
  }
  pc.close();
  if (tries > 1) await watch(tries - 1);
}

function takes(pc: PeerConnection, sdp: string): boolean {
  try {
    pc.setRemoteDescription(sdp, "answer");
    return true;
  } catch {
    return false;
  }
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
