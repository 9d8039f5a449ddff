/** In the page: one WHEP viewer or one WHIP publisher, written after the drafts and after nothing of this repository. */
globalThis.webrtc = (() => {
  let pc = null;
  let answer = null;
  const state = { error: null, connectedMs: null, firstFrameMs: null, longestFreezeMs: 0, connections: 0 };
  let startedAt = 0;

  /** Another UDP port than the one that the answer names: that of a relay of the test's. */
  let relayPort = null;

  async function negotiate(url, headers) {
    await pc.setLocalDescription(await pc.createOffer());
    if (pc.iceGatheringState !== "complete")
      await new Promise((resolve) => {
        pc.onicegatheringstatechange = () => pc.iceGatheringState === "complete" && resolve();
      });
    startedAt = performance.now();
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/sdp", ...headers },
      body: pc.localDescription.sdp,
    });
    const body = await response.text();
    answer = {
      status: response.status,
      location: response.headers.get("location"),
      link: response.headers.get("link"),
      body,
    };
    if (response.status === 201) await pc.setRemoteDescription({ type: "answer", sdp: relayed(body) });
    return answer;
  }

  function relayed(sdp) {
    return relayPort === null ? sdp : sdp.replace(/(a=candidate:\S+ 1 UDP \d+ \S+) \d+ /g, `$1 ${relayPort} `);
  }

  function open() {
    pc = new RTCPeerConnection();
    state.connections++;
    pc.onconnectionstatechange = () => {
      if (pc.connectionState === "connected") state.connectedMs ??= performance.now() - startedAt;
    };
  }

  async function watch(url, headers = {}) {
    open();
    const video = document.body.appendChild(document.createElement("video"));
    Object.assign(video, { autoplay: true, muted: true, playsInline: true, srcObject: new MediaStream() });
    let shownAt = 0;
    const shown = (now) => {
      state.firstFrameMs ??= now - startedAt;
      if (shownAt > 0) state.longestFreezeMs = Math.max(state.longestFreezeMs, now - shownAt);
      shownAt = now;
      readClock(video);
      video.requestVideoFrameCallback(shown);
    };
    video.requestVideoFrameCallback(shown);
    pc.ontrack = ({ track }) => {
      video.srcObject.addTrack(track);
      if (track.kind === "audio") listen(track);
    };
    for (const kind of ["audio", "video"]) pc.addTransceiver(kind, { direction: "recvonly" });
    return negotiate(url, headers);
  }

  let sound = null;
  let loudness = 0;

  function listen(track) {
    const context = new AudioContext();
    sound = context.createAnalyser();
    context.createMediaStreamSource(new MediaStream([track])).connect(sound);
  }

  function measure() {
    if (!sound) return;
    const samples = new Float32Array(sound.fftSize);
    sound.getFloatTimeDomainData(samples);
    loudness = Math.max(loudness, ...samples.map(Math.abs));
  }

  const CLOCK_BITS = 32;
  const BLOCK = 20;
  const latencies = [];
  const reader = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  /** How long ago the clock in this picture was painted, where there is one. */
  function readClock(video) {
    reader.canvas.width = CLOCK_BITS * BLOCK;
    reader.canvas.height = BLOCK;
    reader.drawImage(video, 0, 0);
    const { data } = reader.getImageData(0, BLOCK / 2, CLOCK_BITS * BLOCK, 1);
    let painted = 0;
    for (let bit = 0; bit < CLOCK_BITS; bit++)
      painted = painted * 2 + (data[4 * (bit * BLOCK + BLOCK / 2)] > 127 ? 1 : 0);
    const latency = (Date.now() % 2 ** CLOCK_BITS) - painted;
    if (latency >= 0 && latency < 10_000) latencies.push(latency);
  }

  /** A picture with the time of day in it, black and white blocks for its bits. */
  function clockStream() {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: 640, height: 360 });
    const painter = canvas.getContext("2d");
    const paint = () => {
      const now = Date.now() % 2 ** CLOCK_BITS;
      painter.fillStyle = `hsl(${now / 20}, 50%, 50%)`;
      painter.fillRect(0, 0, canvas.width, canvas.height);
      for (let bit = 0; bit < CLOCK_BITS; bit++) {
        painter.fillStyle = Math.floor(now / 2 ** (CLOCK_BITS - 1 - bit)) % 2 === 1 ? "#fff" : "#000";
        painter.fillRect(bit * BLOCK, 0, BLOCK, BLOCK);
      }
    };
    setInterval(paint, 33);
    return canvas.captureStream(30);
  }

  /** Watches anew whenever no picture came for a second and a half, as players do. */
  async function watchOn(url) {
    const first = await watch(url);
    let shown = 0;
    let movedAt = performance.now();
    setInterval(async () => {
      const { frames } = await figures();
      if (frames !== shown) movedAt = performance.now();
      shown = frames;
      if (performance.now() - movedAt < 1500) return;
      movedAt = performance.now();
      pc.close();
      await watch(url).catch(() => {});
    }, 100);
    return first;
  }

  /** As a broadcaster ends: the resource is deleted. */
  async function stop(url) {
    const { status } = await fetch(new URL(answer.location, url), { method: "DELETE" });
    pc.close();
    return { status };
  }

  async function publish(url, { width = 1280, height = 720, clock = false } = {}) {
    open();
    const stream = clock
      ? clockStream()
      : await navigator.mediaDevices.getUserMedia({ audio: true, video: { width, height, frameRate: 30 } });
    for (const track of stream.getTracks()) {
      const { sender } = pc.addTransceiver(track, { direction: "sendonly" });
      // A busy machine would send a smaller picture, and another one later.
      const parameters = sender.getParameters();
      parameters.degradationPreference = "maintain-resolution";
      await sender.setParameters(parameters);
    }
    return negotiate(url, {});
  }

  async function figures() {
    measure();
    const reports = [...(await pc.getStats()).values()];
    const of = (type, kind) => reports.find((report) => report.type === type && report.kind === kind) ?? {};
    const video = of("inbound-rtp", "video");
    const audio = of("inbound-rtp", "audio");
    const sent = of("outbound-rtp", "video");
    const pair = reports.find((report) => report.type === "candidate-pair" && report.nominated) ?? {};
    return {
      ...state,
      connection: pc.connectionState,
      frames: video.framesDecoded ?? 0,
      width: video.frameWidth ?? 0,
      lost: video.packetsLost ?? 0,
      freezes: video.freezeCount ?? 0,
      nacks: video.nackCount ?? 0,
      audioSamples: audio.totalSamplesReceived ?? 0,
      /** Of the loudest sample that was heard. */
      loudness,
      jitterMs: video.jitterBufferEmittedCount ? (1000 * video.jitterBufferDelay) / video.jitterBufferEmittedCount : 0,
      sentBytes: sent.bytesSent ?? 0,
      sentWidth: sent.frameWidth ?? 0,
      plis: sent.pliCount ?? 0,
      targetBps: sent.targetBitrate ?? 0,
      availableBps: pair.availableOutgoingBitrate ?? 0,
      at: performance.now(),
    };
  }

  return {
    watch,
    watchOn,
    publish,
    stop,
    latencies: () => latencies,
    relayBy: (port) => {
      relayPort = port;
    },
    figures,
    close: () => pc.close(),
    get answer() {
      return answer;
    },
  };
})();
