// Adds players of other vendors to what player-page.js knows. Loaded as it is, so plain JavaScript.
// Each says when it has its first picture, and what time of day the picture is from.
const element = document.querySelector("video");
const known = { startedAt: 0, firstFrameMs: null, dateOf: () => null, errors: [], seekToLive: () => {} };

element.addEventListener("loadeddata", () => {
  known.firstFrameMs ??= performance.now() - known.startedAt;
});

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
