/** The domain floor: everything that the product sells, behind the ports of the media floor and the routes of the API. */
import cookie from "@fastify/cookie";
import type { EffectiveSetting } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import type { Audiences } from "../platform/audience/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import { JobQueue } from "../platform/queue/job-queue.ts";
import type { ObjectStore } from "../platform/storage/object-store.ts";
import type { UploadGate } from "../platform/uploads/upload-gate.ts";
import type { ImportRequest } from "../platform/uploads/upload-import.ts";
import type {
  AssetProcessor,
  ClipMaker,
  EventSink,
  FileExporter,
  FileTranscoder,
  MediaControl,
  PlaybackGate,
  PublishGate,
} from "../ports/index.ts";
import { OwnerTokens, signingKeyRoutes } from "./access-control/index.ts";
import { accountRoutes } from "./accounts/account-routes.ts";
import { ensureAccount, guardRequests, KeyGuesses, newApiKey, Passwords } from "./accounts/index.ts";
import { addLaterRoutes, version } from "./api/index.ts";
import {
  assetRoutes,
  clipJob,
  importJob,
  processingJob,
  type QueueAsset,
  readAsset,
  readTask,
  StoredAssetLedger,
  UploadDesk,
} from "./assets/index.ts";
import { clipProcessor, clipRoutes } from "./clips/index.ts";
import { type DocsSource, docsRoutes } from "./docs/index.ts";
import { EventFeed, EventLog, eventRoutes, type FeedCounts } from "./events/index.ts";
import { healthRoutes } from "./health/index.ts";
import { Housekeeping } from "./housekeeping.ts";
import { FactQueue, RefusedPublishes, releaseStreamsOfNode, StreamPublishGate, writeLiveFacts } from "./live/index.ts";
import { targetRoutes } from "./multistream/index.ts";
import { listNodes, NodeMembership } from "./nodes/index.ts";
import { orphanSweepJob } from "./orphan-sweep.ts";
import { type Headroom, overviewRoutes } from "./overview/index.ts";
import {
  accessTrialRoutes,
  ContentGate,
  ownerTokenRoutes,
  PlayableFinder,
  playbackRoutes,
  type WatchPageDeps,
  watchPages,
} from "./playback/index.ts";
import { PublicAddress } from "./public-address.ts";
import { retentionJob } from "./retention.ts";
import type { Schema, Trx } from "./schema.ts";
import { serverSecret } from "./server-secret.ts";
import { readSession, sessionRoutes } from "./sessions/index.ts";
import type { DomainConfig } from "./settings.ts";
import { readStream, streamRoutes } from "./streams/index.ts";
import { exportJob, type QueueTask, TranscodeService, transcodeJob, transcodeRoutes } from "./transcodes/index.ts";
import { usageRoutes } from "./usage/index.ts";
import { countViewersOfStreams, ViewCounter, ViewerLimit, viewRoutes } from "./views/index.ts";
import {
  DeliveryWorker,
  findAccessWebhook,
  noteAccessCall,
  queueDeliveries,
  tellNewViewers,
  webhookRoutes,
} from "./webhooks/index.ts";

export { findServingMediaNode } from "./nodes/index.ts";
export type { Schema } from "./schema.ts";

export interface DomainSettings extends Omit<DomainConfig, "keepOriginals"> {
  /** The same across restarts of this process, different from every other's: by it a booting node finds what it held before. */
  readonly nodeName: string;
  readonly roles: readonly string[];
  readonly reconnectWindowMs: number;
  /** Whether uploads keep their original where they do not say. */
  keepOriginals(): boolean;
  /** The settings of the process, without secrets. */
  readonly effectiveSettings: readonly EffectiveSetting[];
  /** Where viewers and browsers reach this server, without a slash at the end: as it is set, or a guess. */
  publicUrl(): string;
  /** How much of this machine is in use. */
  headroom(): Headroom;
  readonly isPublicUrlSet: boolean;
  rtmpPort(): number;
  /** UDP port of WebRTC; null or absent where it is off. */
  readonly webrtcPort?: number | null;
}

export interface DomainOptions {
  readonly database: Pick<Database<Schema>, "db" | "vital" | "viewers" | "jobs" | "listen" | "notify">;
  readonly clock: Clock;
  readonly log: Log;
  readonly audiences: Audiences;
  readonly settings: DomainSettings;
  readonly mediaControl: MediaControl;
  /** Where recordings and assets are. */
  readonly store: Pick<ObjectStore, "children" | "delete" | "deletePrefix" | "read">;
  /** Makes what plays of customers' files, in the worker role. */
  readonly assetProcessor: AssetProcessor;
  readonly clipMaker: ClipMaker;
  /** As `assetProcessor`, for files that go back to a bucket of the customer's. */
  readonly fileTranscoder: FileTranscoder;
  /** Sends the files of assets to addresses of the customer's. */
  readonly fileExporter: FileExporter;
  /** Bring the file at a customer's address to the object store as if it had been uploaded, in the worker role. */
  importFile(request: ImportRequest): Promise<void>;
  /** The only way to addresses that customers give. */
  readonly outbound: Outbound;
  /** How people's passwords are hashed. */
  readonly passwords?: Passwords;
}

/** The public page of the player, as it is built. */
export type PlayerPage = Omit<WatchPageDeps, "playables">;

export interface Domains {
  readonly publishGate: PublishGate;
  readonly playbackGate: PlaybackGate;
  readonly eventSink: EventSink;
  /** The key that seals viewers' tokens: 32 bytes, the same on every node. */
  viewerSecret(): Promise<Uint8Array>;
  /** Where people reach this server, for what no request asks for. */
  publicUrl(): string;
  /** Rows have changed that say who may watch this, or anything: the gate reads them anew. */
  accessChanged(playbackId: string | "all"): void;
  /** Fastify plugin with every route of the API, and the public pages of the player and of the documentation where they are built. */
  routes(app: FastifyInstance, player?: PlayerPage | null, docs?: DocsSource | null): Promise<void>;
  /** Make the first account and its key; returns the key once, null when it existed or was preset. */
  ensureFirstAccount(presetKey?: string): Promise<string | null>;
  readonly node: {
    readonly id: string;
    /** Declare what this node held in an earlier life lost, and begin to serve. Before any gate is asked. */
    join(): Promise<void>;
    /** Refuse new publishers. */
    drain(): Promise<void>;
    /** Last facts are written, leases given back. */
    leave(): Promise<void>;
  };
  /** Who may upload what, and what becomes of it. */
  readonly uploads: UploadGate;
  readonly housekeeping: Pick<Housekeeping, "start" | "tick">;
  /** Calls webhooks. */
  readonly deliveries: Pick<DeliveryWorker, "start" | "run">;
  /** Works on jobs. */
  readonly jobs: Pick<JobQueue, "start">;
  /** The metrics that an operator watches. */
  figures(): { readonly factsWaiting: number; readonly factsDropped: number; readonly feed: FeedCounts };
  /** Writes what is still queued. Idempotent. The database stays open: it is its opener's. */
  close(): Promise<void>;
}

/** Build the domain floor over an open, migrated database. Nothing runs until `node.join` and `housekeeping.start`. */
export function createDomains(options: DomainOptions): Domains {
  const { database, clock } = options;
  const deps = sharedDeps(options);
  const { db, events, publicAddress } = deps;
  /** Of what keeps broadcasts alive: it waits neither behind requests nor behind viewers. */
  const vital = { ...deps, db: database.vital };
  const feed = new EventFeed(deps);
  const node = new NodeMembership(vital, { ...options.settings, name: options.settings.nodeName });
  const liveFacts = {
    ...vital,
    countViewers: (trx: Trx, streamIds: readonly string[]) => countViewersOfStreams(trx, streamIds, clock.now()),
  };
  const facts = new FactQueue({ ...deps, write: (batch, dropped) => writeLiveFacts(liveFacts, batch, dropped) });
  const viewCounter = new ViewCounter({
    ...deps,
    node,
    onNewViewers: (trx, viewers) => tellNewViewers(trx, deps, viewers),
  });
  const playables = new PlayableFinder({ ...deps, viewers: database.viewers });
  const ownerTokens = new OwnerTokens(() => serverSecret(deps, "owner-tokens"));
  const playbackGate = new ContentGate({
    ...deps,
    ownerTokens,
    playables,
    noteAccessCall: (id, at, failure) => noteAccessCall(db, id, at, failure),
    limits: new ViewerLimit(deps),
  });
  const deliveries = new DeliveryWorker({
    ...deps,
    node,
    snapshots: {
      subject: {
        stream: async (id) => ({ stream: await readStream(db, id) }),
        asset: async (id) => ({ asset: await readAsset(db, id, await publicAddress.current()) }),
        task: async (id) => ({ task: await readTask(db, id) }),
      },
      session: async (owner, id) => readSession(db, owner, id, await publicAddress.current()),
    },
  });
  const work = createWork(deps, playbackGate);
  const housekeeping = new Housekeeping({ ...work.assets, ...work.transcodes, vital: database.vital }, node);
  const refusals = new RefusedPublishes(() => clock.now());
  const parts = { ...deps, node, feed, playables, ownerTokens, viewCounter, refusals, access: playbackGate.access };
  return {
    publishGate: new StreamPublishGate({ ...vital, refusals, node, settleFacts: () => facts.flush() }),
    playbackGate,
    publicUrl: () => publicAddress.latest,
    accessChanged: (playbackId) => playbackGate.forget(playbackId),
    eventSink: {
      report: (fact) => facts.report(fact),
      settle: () => facts.settle(),
      get lost() {
        return facts.lost;
      },
      countViewers: (counts) => viewCounter.countViewers(counts),
    },
    viewerSecret: () => serverSecret(deps, "viewer-tokens"),
    async routes(app, player = null, docs = null) {
      await addRoutes(app, parts, work);
      if (player !== null) watchPages(app, { playables, ...player });
      docsRoutes(app, { source: docs, version, clock: deps.clock });
    },
    ensureFirstAccount: (presetKey) => ensureAccount(db, { presetKey, newKey: newApiKey, now: clock.now() }),
    node: {
      get id() {
        return node.id;
      },
      join: async () => {
        await events.partitions.maintain(db, clock.now());
        await publicAddress.current();
        await node.join((trx, nodeId) => releaseStreamsOfNode(trx, deps, nodeId));
      },
      drain: () => node.drain(),
      leave: async () => {
        await facts.flush();
        await viewCounter.flush();
        await node.leave((trx, nodeId) => releaseStreamsOfNode(trx, deps, nodeId));
      },
    },
    uploads: new UploadDesk(work.assets),
    housekeeping,
    deliveries,
    jobs: work.jobs,
    figures: () => ({ factsWaiting: facts.waiting, factsDropped: facts.dropped, feed: feed.counts }),
    async close() {
      node.close();
      await feed.close();
      await housekeeping.close();
      await work.jobs.close();
      await deliveries.close();
      await facts.close();
      await viewCounter.close();
    },
  };
}

/** What the domains have in common, of which each takes what it names. */
function sharedDeps(options: DomainOptions) {
  const { database, settings, clock } = options;
  const { db } = database;
  return {
    ...options,
    ...settings,
    db,
    channels: database,
    passwords: options.passwords ?? new Passwords(),
    publicAddress: new PublicAddress({ ...options, ...settings, db }),
    events: new EventLog((trx, placed) => queueDeliveries(trx, placed, clock.now())),
    keyGuesses: new KeyGuesses(clock),
    findAccessWebhook: (projectId: string, id: string) => findAccessWebhook(db, projectId, id),
  };
}

type SharedDeps = ReturnType<typeof sharedDeps>;

/** The queue with all kinds of jobs, and the domains that add to it. */
function createWork(deps: SharedDeps, playbackGate: Pick<PlaybackGate, "mediaIndex">) {
  const ledger = new StoredAssetLedger({
    ...deps,
    accessChanged: (playbackId) => deps.mediaControl.accessChanged(playbackId),
  });
  const assetProcessor = clipProcessor(deps, deps.assetProcessor);
  const processing = processingJob({ ...deps, ledger, assetProcessor });
  const clipping = clipJob({ ...deps, ledger, assetProcessor });
  const importing = importJob(deps);
  const transcoding = transcodeJob(deps);
  const exporting = exportJob({ ...deps, mediaIndex: (content) => playbackGate.mediaIndex(content) });
  const jobs = new JobQueue({
    ...deps,
    db: deps.database.jobs,
    kinds: [retentionJob(deps), orphanSweepJob(deps), importing, processing, clipping, transcoding, exporting],
  });
  const assets = {
    ...deps,
    uploadSecret: () => serverSecret(deps, "upload-tokens"),
    queueProcessing: async ({ id, project_id: owner }: { id: string; project_id: string }) =>
      void (await jobs.add(clipping, { assetId: id }, { key: id, owner })),
    queueAsset: async ({ id, project_id: owner, source_key, source }: Parameters<QueueAsset>[0]) => {
      const isFetched = source_key === null && source.type === "url";
      const kind = source.type === "clip" ? clipping : isFetched ? importing : processing;
      await jobs.add(kind, { assetId: id }, { key: id, owner });
    },
  };
  const transcodes = {
    ...deps,
    queueTask: async ({ id, type, project_id: owner }: Parameters<QueueTask>[0]) =>
      void (await jobs.add(type === "export" ? exporting : transcoding, { taskId: id }, { key: id, owner })),
  };
  return { jobs, assets, transcodes };
}

interface RouteDeps extends SharedDeps {
  readonly node: NodeMembership;
  readonly feed: EventFeed;
  readonly playables: PlayableFinder;
  readonly ownerTokens: OwnerTokens;
  readonly viewCounter: ViewCounter;
  readonly refusals: RefusedPublishes;
  readonly access: ContentGate["access"];
}

/** Every operation of the API. */
async function addRoutes(
  app: FastifyInstance,
  deps: RouteDeps,
  { assets, transcodes }: ReturnType<typeof createWork>,
): Promise<void> {
  const { db, clock } = deps;
  const { viewers } = deps.database;
  const retryCustomerTask = (taskId: string) => new TranscodeService(transcodes).retry(taskId);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(cookie);
  guardRequests(app, deps);
  accountRoutes(app, { ...deps, version, listNodes: () => listNodes(db, deps.node.id) });
  streamRoutes(app, deps);
  sessionRoutes(app, deps);
  assetRoutes(app, { ...assets, retryCustomerTask });
  transcodeRoutes(app, transcodes);
  const viewersOf = async (id: string) => (await countViewersOfStreams(viewers, [id], clock.now())).get(id) ?? 0;
  playbackRoutes(app, { ...deps, viewers, viewersOf });
  clipRoutes(app, assets);
  accessTrialRoutes(app, deps);
  overviewRoutes(app, deps);
  ownerTokenRoutes(app, deps);
  targetRoutes(app, deps);
  healthRoutes(app, deps);
  eventRoutes(app, deps);
  signingKeyRoutes(app, deps);
  viewRoutes(app, { ...deps, viewers });
  usageRoutes(app, deps);
  webhookRoutes(app, deps);
  addLaterRoutes(app);
}
