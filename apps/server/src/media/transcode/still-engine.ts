import { unexpected } from "./fatal-transcode-error.ts";
import { makeSheet, makeStill } from "./still-encoder.ts";
import type { Engine, Send } from "./transcode-protocol.ts";

/** Makes images of keyframes, and sheets of tiles, in the child. A keyframe that cannot be decoded gives an empty image. */
export function stillEngine(send: Send): Engine {
  return async (message) => {
    if (message.type !== "still" && message.type !== "sheet") throw unexpected(message);
    const { type, job, data } = message;
    const making = type === "still" ? makeStill(job, data) : makeSheet(job, data);
    const image = await making.catch(() => null);
    send({ type: "still", id: job.id, data: image ?? new Uint8Array() });
  };
}
