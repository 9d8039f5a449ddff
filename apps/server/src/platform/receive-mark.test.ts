import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { loadReceiveMark } from "./receive-mark.ts";

const opened: { destroy(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.destroy();
});

async function pair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const far = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay(true);
  const [near] = (await once(server, "connection")) as [Socket];
  server.close();
  opened.push(near, far);
  return { near, far };
}

test.runIf(process.platform === "linux")(
  "a reader is woken by as many bytes, by the end, or by a lower mark",
  async () => {
    const setReceiveMark = await loadReceiveMark();
    const { near, far } = await pair();
    const read: number[] = [];
    near.on("data", (bytes) => read.push(bytes.byteLength));
    setReceiveMark?.(near, 1000);
    far.write(new Uint8Array(400));
    await pair(); // takes turns of the event loop in which the bytes could be read
    far.write(new Uint8Array(700));
    await expect.poll(() => read).toEqual([1100]);

    far.write(new Uint8Array(300));
    await pair();
    expect(read).toEqual([1100]);
    setReceiveMark?.(near, 1);
    await expect.poll(() => read).toEqual([1100, 300]);

    setReceiveMark?.(near, 1000);
    far.end(new Uint8Array(200));
    await once(near, "end");
    expect(read).toEqual([1100, 300, 200]);
  },
);

test("a closed socket is left alone", async () => {
  const setReceiveMark = await loadReceiveMark();
  const { near } = await pair();
  near.destroy();
  await once(near, "close");
  expect(() => setReceiveMark?.(near, 1000)).not.toThrow();
});

test("without a build of the library, or where the C library cannot be called, readers are woken for every byte", async () => {
  const fail = (): never => {
    throw new Error("not on this machine");
  };
  expect(await loadReceiveMark(async () => fail())).toBeNull();
  const koffi = { load: fail } as unknown as typeof import("koffi");
  expect(await loadReceiveMark(async () => koffi)).toBeNull();
});
