// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { button, press, render, untilShown } from "../../shared/testing/render.tsx";
import { PublishGuide } from "./publish-guide.tsx";

const KEY = "abcd-ef01-2345-6789";
const PASSPHRASE = "every0way0in";
const addresses = {
  rtmp: "rtmp://video.example.com:1935/live",
  rtmps: "rtmps://video.example.com:1936/live",
  srt: "srt://video.example.com:8890",
  srtPassphrase: PASSPHRASE,
  whip: "https://video.example.com/webrtc",
};

it.each([
  ["a stream", KEY],
  ["no stream yet", null],
])("the guide of %s shows hosts and ports, and no secret", async (_of, streamKey) => {
  await render(<PublishGuide addresses={addresses} streamKey={streamKey} testBroadcast={null} />);
  for (const tab of document.querySelectorAll<HTMLElement>("[role=tab]")) {
    await press(tab.textContent ?? "");
    const page = document.body.textContent ?? "";
    expect(page).not.toContain(PASSPHRASE);
    expect(page).not.toContain(KEY);
  }
  await press("vMix & hardware");
  await untilShown("srt://video.example.com:8890?streamid=");
  await untilShown("rtmps://video.example.com:1936/live/");
});

it("a secret is shown when a person asks for it", async () => {
  await render(<PublishGuide addresses={addresses} streamKey={KEY} testBroadcast={null} />);
  button("Show SRT address");
  await press("Show SRT address");
  await untilShown(`${addresses.srt}?streamid=${KEY}&passphrase=${PASSPHRASE}`);
});
