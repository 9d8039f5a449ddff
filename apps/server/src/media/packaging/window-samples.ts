import { readSamples } from "@weir/formats/mp4";
import { Payload, type Track } from "../packet.ts";
import type { Sample } from "../timeline/timeline-sink.ts";

/** The pictures in bytes of a live window, in memory of their own. */
export function samplesIn(views: readonly Uint8Array[], trackId: Track["id"]): Sample[] {
  return readSamples(Buffer.concat(views)).map(
    (sample): Sample => ({ ...sample, trackId, kind: "video", data: new Payload(sample.data) }),
  );
}
