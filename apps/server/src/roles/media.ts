import type { Domains, Schema } from "../domains/index.ts";
import { dvrDirOf, MediaPlane, Restreaming, spoolDirOf, TranscodeAdmission } from "../media/index.ts";
import { SrtProcess } from "../media/srt/index.ts";
import { chooseEncoder, TestBroadcasts, TranscodePool } from "../media/transcode/index.ts";
import type { Audiences } from "../platform/audience/index.ts";
import { availableCores } from "../platform/available-cores.ts";
import type { OtherNodes } from "../platform/cluster/index.ts";
import type { Confinement } from "../platform/confinement/confinement.ts";
import { freeBytesOf } from "../platform/data-folder.ts";
import type { Database } from "../platform/database.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import { Slices } from "../platform/slices.ts";
import { obeyMediaControl } from "./media-control.ts";
import { openIngests } from "./open-ingests.ts";
import type { Opening } from "./opening.ts";

/** The share of the machine for live transcoding where nothing is set: the rest is for ingest, delivery and the database. */
const SHARE_OF_CORES = 0.6;

export interface MediaRoleSettings {
  /** Of children that decode. */
  readonly confinement: Confinement;
  readonly database: Database<Schema>;
  readonly domains: Domains;
  readonly audiences: Audiences;
  /** Null where nodes do not reach each other. */
  readonly others: OtherNodes | null;
  /** The way to multistream targets. */
  readonly outbound: Outbound;
}

export interface MediaRole {
  readonly handleHttp: MediaPlane["handleHttp"];
  readonly tellWindow: MediaPlane["tellWindow"];
  readonly handOver: MediaPlane["handOver"];
  readonly countSent: MediaPlane["countSent"];
  readonly countViewers: MediaPlane["countViewers"];
  /** The metrics that an operator watches. */
  figures(): MediaPlane["figures"] & {
    readonly transcodeChildren: number;
    readonly diskFreeBytes: number;
    readonly sentToTargets: Restreaming["sent"];
  };
  /** Cores of live transcoding, in use and in all. */
  transcoding(): TranscodeAdmission["budget"];
  /** By its setting, or because its port or the library is not to be had. */
  readonly isSrtOff: boolean;
  /** End every session cleanly, or leave it to another node if `isHeld`; publishers are told to reconnect. */
  drain(isHeld: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Ingest, packaging, recording and delivery of this node. */
export async function startMedia(opening: Opening, settings: MediaRoleSettings): Promise<MediaRole> {
  const { config, listeners, dataFolder, store, clock, log, proxies, budget } = opening;
  const { confinement, database, domains, audiences, outbound, others } = settings;
  await using opened = new AsyncDisposableStack();
  const transcoders = new TranscodePool(log, new Slices(clock), confinement);
  opened.defer(() => transcoders.close());
  const admission = new TranscodeAdmission({
    cores: (config.transcodeCores ?? availableCores() * SHARE_OF_CORES) / (opening.share?.of ?? 1),
    freeBytes: () => process.availableMemory(),
  });
  const srt = new SrtProcess({ clock, log });
  opened.defer(() => srt.close());
  const restream = new Restreaming({ clock, log, outbound, srt });
  const plane = new MediaPlane({
    clock,
    log,
    publishGate: domains.publishGate,
    playbackGate: domains.playbackGate,
    catalogue: domains.mediaCatalogue,
    eventSink: domains.eventSink,
    store,
    viewerSecret: await domains.viewerSecret(),
    proxies,
    viewersPerClient: config.viewersPerClient,
    audiences,
    maxReads: budget.storedReads,
    spoolDir: spoolDirOf(dataFolder),
    dvrDir: dvrDirOf(dataFolder),
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
    others,
  });
  opened.defer(() => plane.close());
  await plane.start();
  domains.node.hold(plane);

  const gates = { gate: domains.publishGate, pullGate: domains.pullGate };
  const ingests = await openIngests(opening, { plane, srt, ...gates, outbound, children: transcoders });
  opened.use(ingests);

  const broadcasts = new TestBroadcasts({ log, clock });
  opened.defer(() => broadcasts.close());
  const self = config.host === "0.0.0.0" || config.host === "::" ? "127.0.0.1" : config.host;
  const commands = await obeyMediaControl(
    database,
    () => domains.node.id,
    {
      // First the gate, so that what the plane asks anew is read anew.
      moved: (move) => plane.moved(move, move.nodeId === domains.node.id),
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
      storeMoments: (moments) => plane.storeMoments(moments),
      trySource: (source) => ingests.trySource(source),
      startTestBroadcast: (streamKey, seconds) =>
        void broadcasts.start({ url: `rtmp://${self}:${listeners.rtmp.port}/live/${streamKey}`, seconds }),
    },
    log,
  );
  opened.defer(() => commands.close());

  const all = opened.move();
  return {
    handleHttp: plane.handleHttp,
    tellWindow: plane.tellWindow,
    handOver: plane.handOver,
    countSent: plane.countSent,
    countViewers: plane.countViewers,
    figures: () => ({
      ...plane.figures,
      transcodeChildren: transcoders.count,
      diskFreeBytes: freeBytesOf(dataFolder),
      sentToTargets: restream.sent,
    }),
    transcoding: () => admission.budget,
    isSrtOff: !ingests.isSrtOpen,
    async drain(isHeld) {
      ingests.stopListening();
      // Recordings are sealed meanwhile, for as long as half of the way out.
      await Promise.all([plane.drain(isHeld), ingests.stopPulling()]);
    },
    close: () => all.disposeAsync(),
  };
}
