import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import {
  useStream,
  useStreamEvents,
  useStreamHealth,
  useUpload,
  WeirBroadcast,
  WeirClient,
  WeirPlayer,
} from "./index.ts";

test("a server renders the elements and the hooks without a window, and asks nobody", () => {
  expect(typeof document).toBe("undefined");
  const fetch = (): never => {
    throw new Error("a server that renders asked for something");
  };
  const client = new WeirClient({ baseUrl: "https://weir.test", apiKey: "key", fetch });
  const Page = () => {
    const stream = useStream(client, "s1");
    const health = useStreamHealth(client, "s1");
    const { events } = useStreamEvents(client, "s1");
    const { phase } = useUpload(client);
    return createElement(
      "p",
      null,
      [stream.isLoading, health.isLoading, events.length, phase].join(" "),
      createElement(WeirPlayer, {
        server: "https://weir.test",
        playbackId: "p1",
        className: "wide",
        getToken: () => "t",
      }),
      createElement(WeirBroadcast, { server: "https://weir.test", streamKey: "key" }),
    );
  };
  expect(renderToString(createElement(Page))).toBe(
    '<p>true true 0 idle<weir-player class="wide" style="display:block;aspect-ratio:16 / 9"></weir-player><weir-broadcast style="display:block"></weir-broadcast></p>',
  );
});
