import type { Socket } from "node:dgram";
import type { Domains, Schema } from "../domains/index.ts";
import { MediaPlane, Restreaming, spoolDirOf, TranscodeAdmission } from "../media/index.ts";
import { publishSettings, RtmpServer, WhipIngest } from "../media/ingest/index.ts";
import { chooseEncoder, TestBroadcasts, TranscodePool } from "../media/transcode/index.ts";
import { StunResponder, WebrtcProcess } from "../media/webrtc/index.ts";
import type { Audiences } from "../platform/audience/index.ts";
import { availableCores } from "../platform/available-cores.ts";
import type { Confinement } from "../platform/confinement/confinement.ts";
import { freeBytesOf } from "../platform/data-folder.ts";
import type { Database } from "../platform/database.ts";
import type { HttpHandler } from "../platform/http/http-server.ts";
import type { Listener } from "../platform/listener.ts";
import type { Log } from "../platform/log.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import { obeyMediaControl } from "./media-control.ts";
import type { Opening } from "./opening.ts";

/** The share of the machine for live transcoding where nothing is set: the rest is for ingest, delivery and the database. */
const SHARE_OF_CORES = 0.6;

export interface MediaRoleSettings {
  /** Of children that decode. */
  readonly confinement: Confinement;
  readonly database: Database<Schema>;
  readonly domains: Domains;
  readonly audiences: Audiences;
  /** The way to multistream targets. */
  readonly outbound: Outbound;
}

export interface MediaRole {
  readonly handleHttp: HttpHandler;
  /** The metrics that an operator watches. */
  figures(): MediaPlane["figures"] & {
    readonly transcodeChildren: number;
    readonly diskFreeBytes: number;
    readonly sentToTargets: Restreaming["sent"];
  };
  /** Cores of live transcoding, in use and in all. */
  transcoding(): TranscodeAdmission["budget"];
  /** End every session cleanly; publishers are told why. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Ingest, packaging, recording and delivery of this node. */
export async function startMedia(opening: Opening, settings: MediaRoleSettings): Promise<MediaRole> {
  const { config, listeners, dataFolder, store, clock, log, proxies, budget } = opening;
  const { confinement, database, domains, audiences, outbound } = settings;
  await using opened = new AsyncDisposableStack();
  const transcoders = new TranscodePool(log, confinement);
  opened.defer(() => transcoders.close());
  const admission = new TranscodeAdmission({
    cores: config.transcodeCores ?? availableCores() * SHARE_OF_CORES,
    freeBytes: () => process.availableMemory(),
  });
  const restream = new Restreaming({ clock, log, outbound });
  opened.defer(() => restream.close());
  const plane = new MediaPlane({
    clock,
    log,
    publishGate: domains.publishGate,
    playbackGate: domains.playbackGate,
    eventSink: domains.eventSink,
    store,
    viewerSecret: await domains.viewerSecret(),
    proxies,
    viewersPerClient: config.viewersPerClient,
    audiences,
    maxReads: budget.storedReads,
    spoolDir: spoolDirOf(dataFolder),
    reconnectWindowMs: config.reconnectWindowMs,
    ladder: {
      admission,
      children: transcoders,
      encoding: {
        preset: config.transcodePreset,
        encoder: await chooseEncoder(config.encoder, clock, log, confinement),
      },
    },
    restream,
    orchestrator: { address: domains.node.id, url: domains.publicUrl() },
    spoolFreeBytes: () => freeBytesOf(dataFolder),
  });
  opened.defer(() => plane.close());
  await plane.start();

  const maxConnections = budget.rtmp;
  const publishing = publishSettings({ clock, log, gate: domains.publishGate, hub: plane, maxConnections });
  const rtmp = new RtmpServer({ publishing, listener: listeners.rtmp, proxies, maxConnections });
  opened.defer(() => rtmp.close());
  await rtmp.listen();

  const reserved = await openUdp(listeners.webrtc, log);
  if (listeners.webrtc && reserved) {
    const { port } = listeners.webrtc;
    // For the WebRTC process, which opens it by itself.
    reserved.close();
    const host = config.host === "localhost" ? "127.0.0.1" : config.host;
    const bindAddress = host === "0.0.0.0" || host === "::" ? null : host;
    const peers = new WebrtcProcess({ clock, log, port, bindAddress });
    opened.defer(() => peers.close());
    const socket = await openUdp(listeners.stun, log);
    if (socket) opened.adopt(new StunResponder(socket, clock), (stun) => stun.close());
    const address = { addresses: config.webrtcAddress, host, port };
    const publish = new WhipIngest({ publishing, proxies, peers, address, children: transcoders });
    plane.serveWebrtc({ publish, peers, address, stunPort: socket?.address().port ?? null });
  }

  const broadcasts = new TestBroadcasts({ log, clock });
  opened.defer(() => broadcasts.close());
  const self = config.host === "0.0.0.0" || config.host === "::" ? "127.0.0.1" : config.host;
  const commands = await obeyMediaControl(
    database,
    () => domains.node.id,
    {
      // First the gate, so that what the plane asks anew is read anew.
      stop: (streamId, why) => {
        domains.accessChanged("all");
        plane.stop(streamId, why);
      },
      accessChanged: (playbackId) => {
        domains.accessChanged(playbackId);
        plane.accessChanged(playbackId);
      },
      targetsChanged: (streamId) => plane.targetsChanged(streamId),
      measureRecording: (content) => plane.measureRecording(content),
      keepWindow: (window) => plane.keepWindow(window),
      sealRecording: (sessionId, untilMs) => plane.sealRecording(sessionId, untilMs),
      startTestBroadcast: (streamKey, seconds) =>
        broadcasts.start({ url: `rtmp://${self}:${listeners.rtmp.port}/live/${streamKey}`, seconds }),
    },
    log,
  );
  opened.defer(() => commands.close());

  const all = opened.move();
  return {
    handleHttp: plane.handleHttp,
    figures: () => ({
      ...plane.figures,
      transcodeChildren: transcoders.count,
      diskFreeBytes: freeBytesOf(dataFolder),
      sentToTargets: restream.sent,
    }),
    transcoding: () => admission.budget,
    async drain() {
      rtmp.stopListening();
      await plane.drain();
    },
    close: () => all.disposeAsync(),
  };
}

/** Null where the port is off or taken: HLS and RTMP do without WebRTC. */
async function openUdp(listener: Listener | null, log: Log): Promise<Socket | null> {
  const refused = ({ message }: Error) => void log.warn(`${message}; going on without it`);
  return (await listener?.openUdp().catch(refused)) ?? null;
}
