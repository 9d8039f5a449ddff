// The public broadcaster as an application uses it. Bundled by the test, so plain JavaScript.
import * as Broadcast from "@livepeer/react/broadcast";
import { getIngest } from "@livepeer/react/external";
import { createElement as element } from "react";
import { createRoot } from "react-dom/client";

const { streamKey, baseUrl } = JSON.parse(document.querySelector("#given").textContent);

createRoot(document.querySelector("#root")).render(
  element(
    Broadcast.Root,
    { ingestUrl: getIngest(streamKey, { baseUrl }), forceEnabled: true, audio: true, video: true },
    element(
      Broadcast.Container,
      null,
      element(Broadcast.Video, null),
      ...["live", "pending", "idle"].map((matcher) =>
        element(Broadcast.StatusIndicator, { matcher, key: matcher }, `broadcast: ${matcher}`),
      ),
    ),
  ),
);
