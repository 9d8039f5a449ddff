import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../clock.ts";
import { Outbound } from "./outbound.ts";
import { outboundFetch } from "./outbound-fetch.ts";

const own = () => ({ ports: [], publicUrl: "http://weir.test" });
const send = outboundFetch(new Outbound({ clock: systemClock, allowPrivate: true, own }));

/** Answers with a body that does not end. */
async function endless(status: number) {
  const server = createServer();
  const connection = once(server, "connection") as Promise<[Socket]>;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const closed = connection.then(async ([socket]) => {
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    socket.once("data", () => socket.write(`HTTP/1.1 ${status} Odd\r\ncontent-length: 1000000\r\n\r\nbody`));
    await once(socket, "close");
  });
  onTestFinished(() => void server.close());
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), closed };
}

test.each([
  ["GET", 204],
  ["GET", 205],
  ["GET", 304],
  ["HEAD", 200],
])(
  "the answer to a %s with status %i has no body, and its connection is closed whatever is sent on it",
  async (method, status) => {
    const { url, closed } = await endless(status);
    const { signal } = new AbortController();
    const answer = await send(url, { method, headers: new Headers(), redirect: "manual", signal });
    expect([answer.status, await answer.text()]).toEqual([status, ""]);
    await closed;
  },
);
