import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { StreamEvent } from "@weir/contract";
import { afterEach, expect, test, vi } from "vitest";
import { readServerSent } from "./server-sent.ts";
import { WeirClient } from "./weir-client.ts";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A feed on loopback that answers its first request with the first answer, and so on, and keeps what it was asked. */
async function feedOf(...answers: Answer[]): Promise<{ client: WeirClient; asked: URLSearchParams[] }> {
  const asked: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? "", "http://x").searchParams);
    const answer = answers[asked.length - 1];
    if (answer) answer(response, request);
    else response.writeHead(404, { "content-type": "application/json" }).end('{"errors":["stream not found"]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: new WeirClient({ baseUrl, apiKey: "k" }), asked };
}

const lines = (id: string) =>
  `id: ${id}\nevent: service_event\ndata: ${JSON.stringify({ type: "stream_state", id })}\n\n`;
const sse = (response: ServerResponse, text: string) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).write(`retry: 10000\n\n${text}`);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const idsOf = async (events: AsyncIterable<StreamEvent>) => (await all(events)).map(({ id }) => id);

test("a connection that is cut, in the middle of an event too, is gone on with after the last whole event", async () => {
  const { client, asked } = await feedOf(
    (response) => {
      sse(response, lines("a") + lines("b") + lines("c").slice(0, 30));
      setImmediate(() => response.destroy());
    },
    (response) => response.writeHead(503).end(),
    (response) => {
      sse(response, `: gap\n\n${lines("c")}`);
      response.end();
    },
  );
  const onGap = vi.fn();
  const onConnection = vi.fn();
  expect(await idsOf(client.streams.events("s", { from: 1, to: 2, onGap, onConnection }))).toEqual(["a", "b", "c"]);
  expect(asked.map((query) => Object.fromEntries(query))).toEqual([
    { from: "1", to: "2" },
    { to: "2", lastEventId: "b" },
    { to: "2", lastEventId: "b" },
  ]);
  expect(onGap).toHaveBeenCalledOnce();
  expect(onConnection.mock.calls.flat()).toEqual([true, false, true]);
});

test("live events that come while the first connection is cut are asked for from its beginning", async () => {
  const { client, asked } = await feedOf(
    (response) => {
      response.setHeader("date", new Date(1_700_000_000_000).toUTCString());
      sse(response, "");
      setImmediate(() => response.destroy());
    },
    (response) => sse(response, lines("a")),
  );
  for await (const { id } of client.streams.events("s")) {
    expect(id).toBe("a");
    break;
  }
  expect(asked.map((query) => Object.fromEntries(query))).toEqual([{}, { from: "1700000000000" }]);
});

test("what trying again cannot mend is thrown", async () => {
  const { client } = await feedOf();
  await expect(idsOf(client.streams.events("s"))).rejects.toThrow("stream not found");
});

test("an abort ends the loop with its reason, and leaving the loop ends the connection", async () => {
  const closed = vi.fn();
  const answer: Answer = (response, request) => {
    request.socket.on("close", closed);
    sse(response, lines("a"));
  };
  const { client } = await feedOf(answer, answer);
  for await (const _event of client.streams.events("s")) break;
  await expect.poll(() => closed).toHaveBeenCalledOnce();
  const abort = new AbortController();
  const reading = (async () => {
    for await (const _event of client.streams.events("s", { signal: abort.signal })) abort.abort(new Error("enough"));
  })();
  await expect(reading).rejects.toThrow("enough");
});

test("lines may be split and ended in any way, and several lines of data are one text", async () => {
  const text = ": a comment\r\nid: 1\r\ndata: one\r\ndata:two\r\n\r\nevent: x\ndata: ü\n\ndata: cut";
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 3, 1000]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
        controller.close();
      },
    });
    expect(await all(readServerSent(body, 1000))).toEqual([
      { comment: "a comment" },
      { data: "one\ntwo" },
      { data: "ü" },
    ]);
  }
});

test("a connection over which nothing comes is given up", async () => {
  const reading = all(readServerSent(new ReadableStream(), 20));
  await expect(reading).rejects.toThrow("nothing came for 0.02 s");
});
