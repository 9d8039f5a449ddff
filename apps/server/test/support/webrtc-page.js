/** In the page: one WHEP viewer or one WHIP publisher, written after the drafts and after nothing of this repository. */
globalThis.webrtc = (() => {
  let pc = null;
  let answer = null;
  const state = { error: null, connectedMs: null, firstFrameMs: null, longestFreezeMs: 0 };
  let startedAt = 0;

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
    if (response.status === 201) await pc.setRemoteDescription({ type: "answer", sdp: body });
    return answer;
  }

  function open() {
    pc = new RTCPeerConnection();
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

  /** As a broadcaster ends: the resource is deleted. */
  async function stop(url) {
    const { status } = await fetch(new URL(answer.location, url), { method: "DELETE" });
    pc.close();
    return { status };
  }

  async function publish(url, { width = 1280, height = 720 } = {}) {
    open();
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width, height, frameRate: 30 } });
    for (const track of stream.getTracks()) pc.addTransceiver(track, { direction: "sendonly" });
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
      keyframes: video.keyFramesDecoded ?? 0,
      lost: video.packetsLost ?? 0,
      freezes: video.freezeCount ?? 0,
      nacks: video.nackCount ?? 0,
      audioPackets: audio.packetsReceived ?? 0,
      concealedSamples: audio.concealedSamples ?? 0,
      silentConcealed: audio.silentConcealedSamples ?? 0,
      audioSamples: audio.totalSamplesReceived ?? 0,
      /** Of the loudest sample that was heard. */
      loudness,
      jitterMs: video.jitterBufferEmittedCount ? (1000 * video.jitterBufferDelay) / video.jitterBufferEmittedCount : 0,
      sentBytes: sent.bytesSent ?? 0,
      sentWidth: sent.frameWidth ?? 0,
      plis: sent.pliCount ?? 0,
      sentNacks: sent.nackCount ?? 0,
      targetBps: sent.targetBitrate ?? 0,
      availableBps: pair.availableOutgoingBitrate ?? 0,
      at: performance.now(),
    };
  }

  return {
    watch,
    publish,
    stop,
    figures,
    close: () => pc.close(),
    get answer() {
      return answer;
    },
  };
})();
