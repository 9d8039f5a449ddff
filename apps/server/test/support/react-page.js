// A page of a customer: what it shows is in its address. Bundled with React and @weir/react by the tests that open it.
import {
  useStream,
  useStreamEvents,
  useStreamHealth,
  useUpload,
  WeirBroadcast,
  WeirClient,
  WeirPlayer,
} from "@weir/react";
import { createElement as h, StrictMode } from "react";
import { createRoot } from "react-dom/client";

const given = Object.fromEntries(new URLSearchParams(location.search));
const client = new WeirClient({ baseUrl: given.server, apiKey: given.key, maxRetries: 0 });

function StreamName() {
  const { data, error } = useStream(client, given.stream ?? null);
  return h("p", { id: "stream" }, data?.name ?? error?.message ?? "");
}

function StreamFeed() {
  const { data, error } = useStreamHealth(client, given.feed, 500);
  const { events } = useStreamEvents(client, given.feed);
  return h(
    "div",
    null,
    h("p", { id: "health" }, `${data?.conditions.length ?? 0} ${error?.message ?? ""}`),
    h("p", { id: "events" }, events.map(({ type }) => type).join(" ")),
  );
}

function Upload() {
  const { upload, phase, progress, asset, error } = useUpload(client);
  const choose = ({ target }) => void upload(target.files[0]).catch(() => {});
  return h(
    "label",
    null,
    "File",
    h("input", { type: "file", onChange: choose }),
    h("output", { id: "upload" }, `${phase} ${progress} ${asset?.playbackId ?? ""} ${error?.message ?? ""}`),
  );
}

function Page() {
  return h(
    "main",
    null,
    given.stream && h(StreamName),
    given.feed && h(StreamFeed),
    given.upload && h(Upload),
    given.playbackId && h(WeirPlayer, { server: given.server, playbackId: given.playbackId, label: "Main stage" }),
    given.streamKey && h(WeirBroadcast, { server: given.server, streamKey: given.streamKey }),
  );
}

createRoot(document.querySelector("#root")).render(h(StrictMode, null, h(Page)));
