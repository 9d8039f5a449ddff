import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { readInto } from "./read-into.ts";

const opened: { destroy(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.destroy();
});

async function pair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const far = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [near] = (await once(server, "connection")) as [Socket];
  server.close();
  opened.push(near, far);
  return { near, far };
}

/** Everything that is taken until the socket ends. */
function taking(socket: Socket): Promise<Buffer> {
  const taken: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  readInto(socket, (bytes) => taken.push(Buffer.from(bytes)));
  socket.once("end", () => resolve(Buffer.concat(taken)));
  return promise;
}

test("an accepted socket's bytes all come, in one buffer that is lent for the call", async () => {
  const { near, far } = await pair();
  const lent = new Set<ArrayBufferLike>();
  readInto(near, (bytes) => lent.add(bytes.buffer));
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index & 0xff));
  far.end(sent);
  await once(near, "end");
  expect(lent.size).toBe(1);

  const other = await pair();
  const taken = taking(other.near);
  other.far.end(sent);
  expect((await taken).equals(sent)).toBe(true);
});

test("a socket that is paused takes nothing, and all of it when it is resumed", async () => {
  const { near, far } = await pair();
  const taken = taking(near);
  near.pause();
  far.end("held back");
  await once(far, "finish");
  near.resume();
  expect((await taken).toString()).toBe("held back");
});

test("a socket without the fields of this Node is read by its data event", async () => {
  const stranger = Readable.from([Buffer.from("by "), Buffer.from("event")]) as unknown as Socket;
  expect((await taking(stranger)).toString()).toBe("by event");
});
