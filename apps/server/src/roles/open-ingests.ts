import type { Socket } from "node:dgram";
import type { MediaPlane } from "../media/index.ts";
import { Pulls, publishSettings, RtmpServer, SourceTrials, SrtIngest, WhipIngest } from "../media/ingest/index.ts";
import type { SrtProcess } from "../media/srt/index.ts";
import type { TranscodeChildren } from "../media/transcode/index.ts";
import { StunResponder, WebrtcProcess } from "../media/webrtc/index.ts";
import { Listener } from "../platform/listener.ts";
import type { Log } from "../platform/log.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import type { MediaControl, PublishGate, PullGate } from "../ports/index.ts";
import { openSrt } from "./open-srt.ts";
import { openTurn, relayedPortAbove } from "./open-turn.ts";
import type { Opening } from "./opening.ts";

export interface IngestRoleSettings {
  readonly plane: MediaPlane;
  readonly srt: SrtProcess;
  readonly gate: PublishGate;
  readonly pullGate: PullGate;
  /** The way to the sources of pulls. */
  readonly outbound: Outbound;
  /** Processes that convert audio. */
  readonly children: TranscodeChildren;
}

export interface Ingests extends AsyncDisposable {
  readonly isSrtOpen: boolean;
  readonly trySource: MediaControl["trySource"];
  /** No new publishers over RTMP and SRT; present ones go on. */
  stopListening(): void;
  /** Ends all pulls: a source that is let go would be connected to again. */
  stopPulling(): Promise<void>;
}

/** Opens every way in, and the port of WebRTC, which viewers share. Throws `StartupError` if a TCP port is taken or not allowed. */
export async function openIngests(
  opening: Opening,
  { plane, srt, gate, pullGate, outbound, children }: IngestRoleSettings,
): Promise<Ingests> {
  const { config, listeners, clock, log, tls, proxies, budget } = opening;
  await using opened = new AsyncDisposableStack();
  const maxConnections = budget.rtmp;
  const publishing = publishSettings({ clock, log, gate, hub: plane, maxConnections });
  const secure = tls && listeners.rtmps && { listener: listeners.rtmps, tls };
  const rtmp = new RtmpServer({ publishing, listener: listeners.rtmp, secure, proxies, maxConnections });
  opened.defer(() => rtmp.close());
  await rtmp.listen();

  const isSrtOpen = await openSrt(opening, srt, new SrtIngest({ publishing, children }));

  const pulls = new Pulls({ publishing, children, outbound, srt, gate: pullGate });
  opened.defer(() => pulls.close());
  pulls.start();

  const trials = new SourceTrials({ clock, log, children, outbound, srt, memory: plane.memory.packets });
  opened.defer(() => trials.close());

  const reserved = await openUdp(listeners.webrtc, log);
  if (listeners.webrtc && reserved) {
    const { port } = listeners.webrtc;
    // For the WebRTC process, which opens it by itself.
    reserved.close();
    const host = config.host === "localhost" ? "127.0.0.1" : config.host;
    const bindAddress = host === "0.0.0.0" || host === "::" ? null : host;
    const turn = openTurn(config, clock);
    const above = turn && new Listener("WebRTC UDP", listeners.webrtc.host, relayedPortAbove(port));
    const relayed = await openUdp(above, log);
    const relayedPort = relayed && above ? above.port : null;
    relayed?.close();
    const peers = new WebrtcProcess({ clock, log, port, bindAddress, relayedPort });
    opened.defer(() => peers.close());
    const socket = await openUdp(listeners.stun, log);
    if (socket) opened.adopt(new StunResponder(socket, clock), (stun) => stun.close());
    const address = { addresses: config.webrtcAddress, host, port, relayedPort };
    const publish = new WhipIngest({ publishing, proxies, peers, address, children });
    const stunPort = socket?.address().port ?? opening.share?.udp?.stun ?? null;
    plane.serveWebrtc({ publish, peers, address, stunPort, turn });
  }
  const all = opened.move();
  return {
    isSrtOpen,
    trySource: (source) => trials.try(source),
    stopListening() {
      rtmp.stopListening();
      srt.stopListening();
      pulls.stopClaiming();
    },
    stopPulling: () => pulls.close(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Null where the port is off or taken: HLS and RTMP do without WebRTC. */
async function openUdp(listener: Listener | null, log: Log): Promise<Socket | null> {
  const refused = ({ message }: Error) => void log.warn(`${message}; going on without it`);
  return (await listener?.openUdp().catch(refused)) ?? null;
}
