import { expect, test, vi } from "vitest";
import type { Schema } from "../domains/index.ts";
import type { ChannelHandler } from "../platform/channel-listener.ts";
import type { Database } from "../platform/database.ts";
import { silentLog } from "../platform/log.ts";
import { notifyMediaControl, obeyMediaControl } from "./media-control.ts";

const handlers: ChannelHandler[] = [];
const database = {
  db: {} as Database<Schema>["db"],
  notify: async (_channel: string, payload: string) => {
    for (const { message } of handlers) message(payload);
  },
  listen: async (_channel: string, handler: ChannelHandler) => {
    handlers.push(handler);
    return { close: async () => {} };
  },
};

async function obey() {
  handlers.length = 0;
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void calls.push([name, ...args]);
  const log = { ...silentLog, warn: vi.fn() };
  await obeyMediaControl(
    database,
    () => "here",
    {
      stop: note("stop"),
      accessChanged: note("accessChanged"),
      targetsChanged: note("targetsChanged"),
      sealRecording: note("sealRecording"),
      keepWindow: note("keepWindow"),
      measureRecording: note("measureRecording"),
      startTestBroadcast: note("startTestBroadcast"),
    },
    log,
  );
  return { calls, log };
}

test("a request of the domain floor arrives at every media node with its arguments", async () => {
  const { calls } = await obey();
  const control = notifyMediaControl(database);
  await control.stop("stream", "suspended");
  await control.sealRecording("session", 5_000);
  expect(calls).toEqual([
    ["stop", "stream", "suspended"],
    ["sealRecording", "session", 5_000],
  ]);
});

test("what is for another node, or of a kind that a newer process sends, is left alone", async () => {
  const { calls, log } = await obey();
  const send = (command: object) => database.notify("", JSON.stringify(command));
  await send({ name: "startTestBroadcast", args: ["key", 10], nodeId: "elsewhere" });
  await send({ name: "startTestBroadcast", args: ["key", 10], nodeId: "here" });
  expect(log.warn).not.toHaveBeenCalled();
  await send({ name: "toString", args: [], nodeId: null });
  expect(calls).toEqual([["startTestBroadcast", "key", 10]]);
  expect(log.warn).toHaveBeenCalledOnce();
});

test("after a lost connection everything is asked again that may have been missed", async () => {
  const { calls } = await obey();
  handlers[0]?.reconnected();
  expect(calls).toEqual([
    ["accessChanged", "all"],
    ["targetsChanged", "all"],
  ]);
});
