// Adds players of other vendors to what player-page.js knows. Loaded as it is, so plain JavaScript.
// Each says when it has its first picture, and what time of day the picture is from.
const element = document.querySelector("video");
const known = { startedAt: 0, firstFrameMs: null, dateOf: () => null, errors: [], seekToLive: () => {} };

element.addEventListener("loadeddata", () => {
  known.firstFrameMs ??= performance.now() - known.startedAt;
});

/** With so much ahead, a stall is no longer one of what is played. Chromium wants twice as much sound as after its last stall before it plays on. */
const FED_SECONDS = 0.4;
const starved = { since: null, longestMs: 0 };

function endStarvation() {
  if (starved.since !== null) starved.longestMs = Math.max(starved.longestMs, performance.now() - starved.since);
  starved.since = null;
}

function isFed() {
  const { buffered, currentTime } = element;
  const ranges = Array.from({ length: buffered.length }, (_, nth) => [buffered.start(nth), buffered.end(nth)]);
  return ranges.some(([start, end]) => start <= currentTime && end >= currentTime + FED_SECONDS);
}

element.addEventListener("waiting", () => {
  if (known.firstFrameMs !== null && !element.seeking) starved.since ??= performance.now();
});
element.addEventListener("playing", endStarvation);
setInterval(() => isFed() && endStarvation(), 50);

const players = {
  async hls(url, lowLatencyMode) {
    const hls = new window.Hls({ lowLatencyMode, enableWorker: false });
    hls.on("hlsError", (_event, { details, response, fatal }) =>
      known.errors.push([details, response?.code, fatal && "fatal"].filter(Boolean).join(" ")),
    );
    known.dateOf = () => hls.playingDate?.getTime() ?? null;
    known.seekToLive = () => {
      element.currentTime = hls.liveSyncPosition;
    };
    hls.loadSource(url);
    hls.attachMedia(element);
  },
  async shaka(url, lowLatencyMode, manifest = {}) {
    window.shaka.polyfill.installAll();
    const player = new window.shaka.Player();
    await player.attach(element);
    player.configure({ streaming: { lowLatencyMode }, manifest });
    player.addEventListener("error", ({ detail }) => known.errors.push(`${detail.code} ${detail.data?.[1] ?? ""}`));
    known.dateOf = () => player.getPlayheadTimeAsDate()?.getTime() ?? null;
    known.seekToLive = () => player.goToLive();
    await player.load(url);
  },
  // Without it, 5.2 sets the same time offset again before each part, and the browser drops parts that begin without a keyframe.
  shaka5: (url, lowLatencyMode) => players.shaka(url, lowLatencyMode, { hls: { sequenceMode: lowLatencyMode } }),
  async videojs(url, llhls) {
    const player = window.videojs(element, { html5: { vhs: { overrideNative: true, llhls } }, muted: true });
    player.on("error", () => known.errors.push(player.error()?.message ?? "unknown"));
    known.dateOf = () => {
      const { segments = [] } = player.tech(true)?.vhs?.playlists?.media() ?? {};
      const time = element.currentTime;
      const segment = segments.findLast(({ start, dateTimeObject }) => start <= time && dateTimeObject);
      return segment ? segment.dateTimeObject.getTime() + (time - segment.start) * 1000 : null;
    };
    player.src({ src: url, type: "application/x-mpegURL" });
  },
};

window.foreign = {
  async play(kind, url, lowLatency) {
    known.startedAt = performance.now();
    const loading = players[kind](url, lowLatency).catch((error) => known.errors.push(String(error?.code ?? error)));
    element.addEventListener("loadeddata", () => element.play().catch(() => {}));
    await loading;
    element.play().catch(() => {});
  },
  seekToLive() {
    known.seekToLive();
  },
  // Since the last call: how long it stood still at most, and had nothing to play.
  takeLongestStarvationMs() {
    const now = starved.since === null ? 0 : performance.now() - starved.since;
    const longest = Math.max(starved.longestMs, now);
    starved.longestMs = 0;
    starved.since &&= performance.now();
    return longest;
  },
  state() {
    const date = known.dateOf();
    const { seekable } = element;
    return {
      ...window.player.state(),
      errors: known.errors,
      firstFrameMs: known.firstFrameMs,
      delayMs: date === null ? null : Date.now() - date,
      seekable: seekable.length > 0 ? [seekable.start(0), seekable.end(seekable.length - 1)] : null,
    };
  },
};
