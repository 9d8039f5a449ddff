// What the page of TestBrowser knows: one video element, played by hls.js or by itself. Loaded as it is, so plain JavaScript.
const video = document.querySelector("video");
/** A seek to the picture that is there already may show none. */
const NEAR_SECONDS = 1;
const seen = {
  stalls: 0,
  stalledAt: null,
  longestStallMs: 0,
  errors: [],
  fatal: null,
  hasPlayed: false,
  levelCodecs: null,
};
let hls = null;

video.addEventListener("playing", () => {
  seen.hasPlayed = true;
  seen.longestStallMs = longestStallMs();
  seen.stalledAt = null;
});
video.addEventListener("waiting", () => {
  if (!seen.hasPlayed || video.seeking) return;
  seen.stalls++;
  seen.stalledAt ??= performance.now();
});
video.addEventListener("error", () => {
  seen.fatal = video.error?.message ?? "unknown";
});

/** A wait that says what did not come, and how the video is. */
function within(ms, promise, what) {
  return new Promise((resolve, reject) => {
    const tell = () => reject(new Error(`${what} within ${ms} ms: ${JSON.stringify(videoState())}`));
    const timer = setTimeout(tell, ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function videoState() {
  const { readyState, networkState, currentTime, seeking, paused, playbackRate } = video;
  const buffered = Array.from({ length: video.buffered.length }, (_, nth) => [
    video.buffered.start(nth),
    video.buffered.end(nth),
  ]);
  const pictures = video.getVideoPlaybackQuality().totalVideoFrames;
  return { readyState, networkState, currentTime, seeking, paused, playbackRate, buffered, pictures };
}

function longestStallMs() {
  const now = seen.stalledAt === null ? 0 : performance.now() - seen.stalledAt;
  return Math.max(seen.longestStallMs, now);
}

/** The brightness of these points of the picture that is shown. */
function shades(points) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  return points.map(([x, y]) => {
    const [red, green, blue] = context.getImageData(x, y, 1, 1).data;
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}

window.player = {
  playHls(url, headers = {}, lowLatencyMode = true) {
    hls = new window.Hls({
      lowLatencyMode,
      maxLiveSyncPlaybackRate: 1.5,
      enableWorker: false,
      xhrSetup(xhr) {
        for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
      },
    });
    hls.on("hlsError", (_event, { fatal, details, response, reason, error: cause }) => {
      // A seek cancels what is being loaded, and hls.js reports its own cancelling as an error.
      if (details === window.Hls.ErrorDetails.INTERNAL_ABORTED) return;
      const error = [details, response?.code, reason ?? cause?.message].filter(Boolean).join(" ");
      const { currentTime, buffered } = videoState();
      seen.errors.push(`${error} at ${currentTime} s of ${JSON.stringify(buffered)}`);
      if (fatal) seen.fatal ??= error;
    });
    hls.loadSource(url);
    hls.attachMedia(video);
    video.addEventListener("loadeddata", () => video.play().catch(() => {}), { once: true });
  },
  playFile(url) {
    video.src = url;
    video.play().catch(() => {});
  },
  speed(rate) {
    video.playbackRate = rate;
  },
  // At the next segment, not at once: nothing that is shown may be missed.
  switchTo(width) {
    hls.nextLevel = hls.levels.findIndex((level) => level.width === width);
  },
  // From the beginning, which is far from the end however slow the machine is.
  replayWith(width) {
    video.pause();
    video.currentTime = 0;
    this.switchTo(width);
    video.play().catch(() => {});
  },
  // Since the last call.
  takeLongestStallMs() {
    const longest = longestStallMs();
    seen.longestStallMs = 0;
    seen.stalledAt &&= performance.now();
    return longest;
  },
  seek(seconds) {
    video.currentTime = seconds;
  },
  // Opens a file without playing it, readable as pixels.
  openFile(url) {
    video.crossOrigin = "anonymous";
    video.preload = "auto";
    video.src = url;
    const loaded = new Promise((resolve, reject) => {
      video.addEventListener("loadeddata", () => resolve(video.duration), { once: true });
      video.addEventListener("error", () => reject(new Error(video.error?.message)), { once: true });
    });
    return within(30_000, loaded, "no picture of the file");
  },
  // Seeks: the picture of that time is drawn, and the player can go on from there. Either may come first.
  seekTo(seconds) {
    const sought = new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
    const what = `the seek from ${video.currentTime} s to ${seconds} s`;
    // At `seeked` the picture before the seek may still be the one that is drawn, and the next picture to come may be one from there.
    const from = video.currentTime;
    const isNear = Math.abs(seconds - from) < NEAR_SECONDS;
    const shown = new Promise((resolve) => {
      const drawn = (_now, { mediaTime }) => {
        if (isNear || Math.abs(mediaTime - seconds) < Math.abs(mediaTime - from)) resolve();
        else video.requestVideoFrameCallback(drawn);
      };
      video.requestVideoFrameCallback(drawn);
    });
    video.currentTime = seconds;
    return {
      sought: within(30_000, sought, `${what} is not done`),
      shown: within(30_000, shown, `${what} shows no picture`),
    };
  },
  // Resolves once the picture of that time is drawn.
  async seekAndShow(seconds) {
    const { sought, shown } = this.seekTo(seconds);
    await Promise.all([sought, shown]);
  },
  // The brightness of these points of the first picture after a seek, and in how many milliseconds it came and the player went on.
  async shadesOfSeek(seconds, points) {
    const from = performance.now();
    const { sought, shown } = this.seekTo(seconds);
    const passed = () => performance.now() - from;
    const [first, soughtMs] = await Promise.all([
      shown.then(() => ({ shades: shades(points), shownMs: passed() })),
      sought.then(passed),
    ]);
    return { ...first, soughtMs };
  },
  // The brightness of these points of the picture that is shown after a seek.
  async shadesAfterSeek(seconds, points) {
    // A browser that seeks to where it is shows no new picture. It keeps times in microseconds.
    if (Math.abs(video.currentTime - seconds) > 0.0001) await this.seekAndShow(seconds);
    return shades(points);
  },
  middleShade() {
    return shades([[video.videoWidth / 2, video.videoHeight / 2]])[0];
  },
  state() {
    const { totalVideoFrames = 0, droppedVideoFrames = 0 } = video.getVideoPlaybackQuality();
    return {
      isPlaying: !video.paused && !video.ended && video.readyState >= 3,
      hasEnded: video.ended,
      isSeeking: video.seeking,
      currentTime: video.currentTime,
      duration: Number.isFinite(video.duration) ? video.duration : null,
      playingDate: hls?.playingDate?.getTime() ?? null,
      frames: totalVideoFrames - droppedVideoFrames,
      droppedFrames: droppedVideoFrames,
      audioBytes: video.webkitAudioDecodedByteCount,
      width: video.videoWidth,
      stalls: seen.stalls,
      longestStallMs: longestStallMs(),
      errors: seen.errors,
      fatal: seen.fatal,
    };
  },
};
