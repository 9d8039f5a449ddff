// @vitest-environment happy-dom
import { type Asset, type CreateAssetOptions, type Stream, type StreamEvent, WeirError } from "@weir/client";
import { createElement, StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { expect, onTestFinished, test, vi } from "vitest";
import type { StreamReader, Uploader } from "./clients.ts";
import { useStream } from "./use-stream.ts";
import { useStreamEvents } from "./use-stream-events.ts";
import { type Upload, useUpload } from "./use-upload.ts";

/** What a hook returns now, in a component that is on a page until the test is over. */
function use<Value>(hook: () => Value) {
  const shown: { value?: Value } = {};
  const Page = () => {
    shown.value = hook();
    return null;
  };
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  const leave = (): void => flushSync(() => root.unmount());
  onTestFinished(leave);
  const show = (): void => flushSync(() => root.render(createElement(StrictMode, null, createElement(Page))));
  show();
  return { now: () => shown.value as Value, show, leave };
}

const reader = (streams: Partial<StreamReader["streams"]>): StreamReader => ({
  streams: streams as StreamReader["streams"],
});

test("a stream is read again until a failure that a repetition cannot cure", async () => {
  const answers = [
    () => Promise.reject(new WeirError(503, ["the server is starting"])),
    async () => ({ name: "Stage" }) as Stream,
    () => Promise.reject(new WeirError(404, ["no such stream"])),
  ];
  let asked = 0;
  const client = reader({ get: () => answers[Math.min(asked++, 2)]?.() as Promise<Stream> });
  const page = use(() => useStream(client, "s1", 20));
  expect(page.now()).toMatchObject({ data: undefined, error: null, isLoading: true });
  await vi.waitFor(() => expect(page.now().data?.name).toBe("Stage"));
  await vi.waitFor(() => expect(page.now().error?.message).toBe("no such stream"));
  const before = asked;
  page.now().refresh();
  await vi.waitFor(() => expect(asked).toBe(before + 1));
});

test("a key that was not made for pages is refused with what to do", async () => {
  const sentence = "credential disallows CORS access from origin https://app.test";
  const client = reader({ get: () => Promise.reject(new WeirError(403, [sentence])) });
  const page = use(() => useStream(client, "s1"));
  await vi.waitFor(() => expect(page.now().error?.message).toContain("This API key was not made for pages"));
});

test("another stream shows nothing of the one before, and a late answer does not count", async () => {
  const answered = new Map<string, (stream: Stream) => void>();
  const get = (id: string) => new Promise<Stream>((resolve) => answered.set(id, resolve));
  let id = "s1";
  const client = reader({ get });
  const page = use(() => useStream(client, id));
  answered.get("s1")?.({ name: "one" } as Stream);
  await vi.waitFor(() => expect(page.now().data?.name).toBe("one"));
  id = "s2";
  page.show();
  expect(page.now()).toMatchObject({ data: undefined, isLoading: true });
  answered.get("s2")?.({ name: "two" } as Stream);
  await vi.waitFor(() => expect(page.now().data?.name).toBe("two"));
});

test("the newest events are kept, each is told once, and the feed ends with the component", async () => {
  const ended = vi.fn();
  const client = reader({
    async *events(_id, { signal, onConnection } = {}) {
      signal?.addEventListener("abort", ended);
      onConnection?.(true);
      for (const id of ["e1", "e2", "e3"]) yield { id } as StreamEvent;
      await new Promise(() => {});
    },
  });
  const onEvent = vi.fn();
  const page = use(() => useStreamEvents(client, "s1", { keep: 2, onEvent }));
  await vi.waitFor(() => expect(page.now().events.map(({ id }) => id)).toEqual(["e2", "e3"]));
  expect([page.now().isConnected, page.now().error]).toEqual([true, null]);
  expect(onEvent.mock.calls.map(([{ id }]) => id)).toEqual(["e1", "e2", "e3"]);
  ended.mockClear();
  page.leave();
  expect(ended).toHaveBeenCalledOnce();
});

test("a component that only wants to be told keeps no event", async () => {
  const client = reader({
    async *events() {
      for (const id of ["e1", "e2", "e3"]) yield { id } as StreamEvent;
      await new Promise(() => {});
    },
  });
  const onEvent = vi.fn();
  const page = use(() => useStreamEvents(client, "s1", { keep: 0, onEvent }));
  await vi.waitFor(() => expect(onEvent).toHaveBeenCalledTimes(3));
  expect(page.now().events).toEqual([]);
});

/** A client whose uploads do what the test says. */
function uploader() {
  const made: { options: CreateAssetOptions; finish(asset: Asset): void; fail(error: Error): void }[] = [];
  const paused = vi.fn();
  const client: Uploader = {
    createAsset: (_given, options = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Asset[]>();
      made.push({ options, finish: (asset) => resolve([asset]), fail: reject });
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
      return { assets: promise, pause: paused, resume: paused };
    },
  };
  return { client, made, paused };
}

test("an upload tells its phases, holds, and has its asset at the end", async () => {
  const { client, made, paused } = uploader();
  const page = use(() => useUpload(client));
  const done = page.now().upload(new File(["bytes"], "holiday.mp4"));
  await vi.waitFor(() => expect(page.now().phase).toBe("waiting"));
  made[0]?.options.onProgress?.([{ phase: "uploading", progress: 0.4 }]);
  await vi.waitFor(() => expect(page.now()).toMatchObject({ phase: "uploading", progress: 0.4 }));
  page.now().pause();
  await vi.waitFor(() => expect([page.now().isPaused, paused.mock.calls.length]).toEqual([true, 1]));
  made[0]?.finish({ id: "a1" } as Asset);
  expect((await done).id).toBe("a1");
  await vi.waitFor(() => expect(page.now()).toMatchObject({ phase: "ready", asset: { id: "a1" } }));
});

test("a second upload ends the first, a failure is told, and a component that leaves ends its upload", async () => {
  const { client, made } = uploader();
  const page = use<Upload>(() => useUpload(client));
  const first = page.now().upload(new File(["1"], "1.mp4"));
  const second = page.now().upload(new File(["2"], "2.mp4"));
  await expect(first).rejects.toThrow();
  expect(made[0]?.options.signal?.aborted).toBe(true);
  made[1]?.fail(new WeirError(422, ["the file has no video"]));
  await expect(second).rejects.toThrow("the file has no video");
  await vi.waitFor(() =>
    expect(page.now()).toMatchObject({ phase: "failed", error: { message: "the file has no video" } }),
  );
  const third = page.now().upload(new File(["3"], "3.mp4"));
  page.leave();
  await expect(third).rejects.toThrow();
});
