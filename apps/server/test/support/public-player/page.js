// The public player as an application uses it: its own states are shown as text. Bundled by the test, so plain JavaScript.
import { getSrc } from "@livepeer/react/external";
import * as Player from "@livepeer/react/player";
import { createElement as element } from "react";
import { createRoot } from "react-dom/client";

const { info, reportsTo, ...credentials } = JSON.parse(document.querySelector("#given").textContent);

/** As an application passes its players' reports on to the server that it chooses. */
const reporting = reportsTo && {
  metricsInterval: 2_000,
  onPlaybackEvents: (events) =>
    fetch(reportsTo.url, { method: "POST", body: JSON.stringify({ ...reportsTo.from, events }) }),
};

const indicator = (matcher) => element(Player.ErrorIndicator, { matcher, key: matcher }, `error: ${matcher}`);

createRoot(document.querySelector("#root")).render(
  element(
    Player.Root,
    { src: getSrc(info), autoPlay: true, volume: 0, ...credentials, ...reporting },
    element(
      Player.Container,
      null,
      element(Player.Video, { muted: true }),
      element(Player.PlayingIndicator, { matcher: true }, "playing"),
      ...["access-control", "offline", "unknown"].map(indicator),
    ),
  ),
);
