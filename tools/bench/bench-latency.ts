import { setTimeout as wait } from "node:timers/promises";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import {
  fetchBytes,
  fragmentStartMs,
  newestPart,
  videoPlaylistUrl,
} from "../../apps/server/src/roles/capacity/hls-reader.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import { median, type Row } from "./report.ts";

const FIRST_PARTS = 10;
const PARTS = 30;

/** Time from a publisher's connect until its first part is listed and fetched, for ten streams. */
export async function measureFirstPart(server: BenchServer, clip: Clip): Promise<Row[]> {
  const times: number[] = [];
  for (let n = 0; n < FIRST_PARTS; n++) {
    const { publishUrl, hlsUrl } = await server.createStream(`first part ${n}`);
    const sender = await RtmpSender.start(publishUrl, clip);
    try {
      const playlistUrl = await videoPlaylistUrl(hlsUrl);
      const { body } = await fetchBytes(`${playlistUrl}?_HLS_msn=1&_HLS_part=0`);
      const { uri } = newestPart(body.toString());
      times.push((await fetchBytes(new URL(uri, playlistUrl).href)).at - sender.connectedAt);
    } finally {
      await sender.stop();
    }
  }
  return [
    { what: "first part listed and fetched after connect, median", value: median(times), unit: "ms" },
    { what: "first part listed and fetched after connect, worst of 10", value: Math.max(...times), unit: "ms" },
  ];
}

/** Age of a part's oldest frame when fetched, counted from when the frame was sent, with blocking playlist requests. */
export async function measurePartAge(server: BenchServer, clip: Clip): Promise<Row[]> {
  const { publishUrl, hlsUrl } = await server.createStream("part age");
  const sender = await RtmpSender.start(publishUrl, clip);
  const ages: number[] = [];
  try {
    await wait(3000);
    const playlistUrl = await videoPlaylistUrl(hlsUrl);
    let next = newestPart((await fetchBytes(playlistUrl)).body.toString());
    while (ages.length < PARTS) {
      const { body } = await fetchBytes(`${playlistUrl}?_HLS_msn=${next.msn}&_HLS_part=${next.nextPart}`);
      next = newestPart(body.toString());
      const part = await fetchBytes(new URL(next.uri, playlistUrl).href);
      // The timeline starts at the clip's first keyframe, which was sent when the clip began.
      ages.push(part.at - sender.startedAt - fragmentStartMs(part.body));
    }
  } finally {
    await sender.stop();
  }
  return [
    { what: "oldest frame of a part when fetched, median", value: median(ages), unit: "ms" },
    { what: "oldest frame of a part when fetched, worst of 30", value: Math.max(...ages), unit: "ms" },
  ];
}
