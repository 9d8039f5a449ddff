// @vitest-environment happy-dom
import { expect, it, onTestFinished, vi } from "vitest";
import { offerOtherScreens } from "./other-screens.ts";

/** A browser's other screens, which the test finds and chooses. */
class FakeRemote extends EventTarget {
  state = "disconnected";
  readonly watchers: ((isAvailable: boolean) => void)[] = [];
  prompt = vi.fn(() => Promise.reject(new DOMException("closed", "NotAllowedError")));
  isPlayable = true;

  async watchAvailability(tell: (isAvailable: boolean) => void): Promise<number> {
    if (!this.isPlayable) throw new DOMException("not this source", "NotSupportedError");
    return this.watchers.push(tell);
  }

  async cancelWatchAvailability(): Promise<void> {
    this.watchers.length = 0;
  }

  tell(isAvailable: boolean): void {
    for (const watcher of this.watchers) watcher(isAvailable);
  }

  enter(state: string, event: string): void {
    this.state = state;
    this.dispatchEvent(new Event(event));
  }
}

function open(more: object = {}) {
  const video = document.createElement("video");
  const button = document.createElement("button");
  button.hidden = true;
  const remote = new FakeRemote();
  for (const [name, value] of Object.entries({ remote, ...more })) Object.defineProperty(video, name, { value });
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  offerOtherScreens(button, video, abort.signal);
  return { video, button, remote, abort, load: () => video.dispatchEvent(new Event("loadedmetadata")) };
}

it("offers other screens while there are any, and shows that the video is on one", async () => {
  const { button, remote, load } = open();
  expect(button.hidden).toBe(true);
  load();
  await vi.waitFor(() => expect(remote.watchers).toHaveLength(1));
  remote.tell(true);
  expect(button.hidden).toBe(false);
  button.click();
  expect(remote.prompt).toHaveBeenCalledOnce();
  remote.enter("connected", "connect");
  remote.tell(false);
  expect([button.hidden, button.getAttribute("aria-pressed")]).toEqual([false, "true"]);
  remote.enter("disconnected", "disconnect");
  expect(button.getAttribute("aria-pressed")).toBe("false");
});

it("is told by the browser once, whatever is loaded, and no more when the player is gone", async () => {
  const { remote, abort, load } = open();
  const watched = vi.spyOn(remote, "watchAvailability");
  for (const time of [1, 2, 3]) {
    load();
    await vi.waitFor(() => expect(watched).toHaveBeenCalledTimes(time));
  }
  expect(remote.watchers).toHaveLength(1);
  abort.abort();
  await vi.waitFor(() => expect(remote.watchers).toHaveLength(0));
});

it("offers nothing where the video cannot be played elsewhere, nor beside AirPlay", async () => {
  const { button, remote, load } = open();
  remote.isPlayable = false;
  load();
  await vi.waitFor(() => expect(button.hidden).toBe(true));
  const apple = open({ webkitShowPlaybackTargetPicker: () => {} });
  apple.load();
  apple.remote.tell(true);
  expect(apple.button.hidden).toBe(true);
});
