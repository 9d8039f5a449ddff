import { unexpected } from "./fatal-transcode-error.ts";
import { makeSlate } from "./slate-encoder.ts";
import { makeSheet, makeStill } from "./still-encoder.ts";
import type { Engine, Send, ToChild } from "./transcode-protocol.ts";

type StillMessage = Extract<ToChild, { type: "still" | "sheet" | "slate" }>;

export const isStill = (message: ToChild): message is StillMessage =>
  message.type === "still" || message.type === "sheet" || message.type === "slate";

/** Makes images of keyframes, sheets of tiles, and keyframes of images, in the child. What cannot be decoded gives nothing. */
export function stillEngine(send: Send): Engine {
  return async (message) => {
    if (!isStill(message)) throw unexpected(message);
    const image = await made(message).catch(() => null);
    send({ type: "still", id: message.job.id, data: image ?? new Uint8Array() });
  };
}

function made(message: StillMessage): Promise<Uint8Array | null> {
  if (message.type === "still") return makeStill(message.job, message.data);
  if (message.type === "sheet") return makeSheet(message.job, message.data);
  return makeSlate(Buffer.from(message.job.config, "base64"), message.data);
}
