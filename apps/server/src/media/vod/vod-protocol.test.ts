import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { messageFrame } from "../../platform/pipe-frames.ts";
import { type FramedMessage, readMessages } from "./vod-protocol.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function messagesOf(pipe: AsyncIterable<Uint8Array>): Promise<FramedMessage[]> {
  const messages: FramedMessage[] = [];
  for await (const message of readMessages(pipe)) messages.push(message);
  return messages;
}

function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("messages arrive whole, however the pipe cuts them", async () => {
  const sent = [
    { message: { type: "progress", done: 0.5 }, bytes: [] },
    { message: { type: "init", rendition: "audio", file: "ä" }, bytes: [Buffer.from("some"), Buffer.from(" bytes")] },
    { message: { type: "encoded" }, bytes: [] },
  ] as const;
  const all = Buffer.concat(sent.map(({ message, bytes }) => messageFrame({ message }, bytes)));
  for (const size of [1, 7, 8, 9, 50, all.byteLength]) {
    const pieces = async function* () {
      for (let at = 0; at < all.byteLength; at += size) yield all.subarray(at, at + size);
    };
    const read = await messagesOf(pieces());
    expect(read.map(({ message }) => message)).toEqual(sent.map(({ message }) => message));
    expect(read.map(({ data }) => data.toString())).toEqual(["", "some bytes", ""]);
  }
});

test("a span that arrives in a hundred thousand pieces takes no more memory than its bytes", async () => {
  const frames = 100_000;
  const frame = Buffer.alloc(9, 1);
  const bytes = frames * frame.byteLength;
  const head = messageFrame({ message: { type: "encoded" } }, [new Uint8Array(bytes)]).slice(0, -bytes);
  const before = memoryInUse();
  let most = 0;
  const pieces = async function* () {
    yield head;
    for (let n = 1; n <= frames; n++) {
      // As a pipe gives them: each has a memory of its own.
      yield Uint8Array.from(frame);
      if (n === frames - 1) most = memoryInUse() - before;
    }
  };
  const [{ data } = expect.fail("no message")] = await messagesOf(pieces());
  expect(data.byteLength).toBe(bytes);
  expect(most).toBeLessThan(4 * bytes);
});
