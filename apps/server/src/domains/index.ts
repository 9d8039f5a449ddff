/** The domain floor: everything that the product sells, behind the ports of the media floor and the routes of the API. */
import cookie from "@fastify/cookie";
import type { FastifyInstance } from "fastify";
import { JobQueue } from "../platform/queue/job-queue.ts";
import type { MediaCatalogue } from "../ports/index.ts";
import { OwnerTokens, signingKeyRoutes } from "./access-control/index.ts";
import { accountRoutes } from "./accounts/account-routes.ts";
import { ensureAccount, guardRequests, KeyGuesses, newApiKey, Passwords } from "./accounts/index.ts";
import { addLaterRoutes, version } from "./api/index.ts";
import { AssetService, assetRoutes, importTask, processingTask, readAsset, UploadDesk } from "./assets/index.ts";
import { clipRoutes, clipTask } from "./clips/index.ts";
import { docsRoutes } from "./docs/index.ts";
import { EventFeed, EventLog, eventRoutes } from "./events/index.ts";
import type { DomainOptions, Domains, Processors } from "./floor.ts";
import { healthRoutes } from "./health/index.ts";
import { Housekeeping } from "./housekeeping.ts";
import { newId } from "./ids.ts";
import { LastingAnswers } from "./lasting-answers.ts";
import {
  FactQueue,
  RefusedPublishes,
  releaseStreamsOfNode,
  StreamPublishGate,
  settleHeld,
  writeLiveFacts,
} from "./live/index.ts";
import { targetRoutes } from "./multistream/index.ts";
import {
  type ChangedRow,
  findMediaNodes,
  listNodes,
  NodeMembership,
  type ReachedNode,
  reachedNodes,
} from "./nodes/index.ts";
import { orphanSweepJob } from "./orphan-sweep.ts";
import { overviewRoutes } from "./overview/index.ts";
import {
  accessTrialRoutes,
  ContentGate,
  oembedRoutes,
  ownerTokenRoutes,
  PlayableFinder,
  playbackRoutes,
  StoredCatalogue,
  watchPages,
} from "./playback/index.ts";
import { PublicAddress } from "./public-address.ts";
import { StreamPullGate, WantedPulls } from "./pulls/index.ts";
import { retentionJob } from "./retention.ts";
import type { Trx } from "./schema.ts";
import { clusterKeys, serverSecret } from "./server-secret.ts";
import { readSession, sessionRoutes } from "./sessions/index.ts";
import { readStream, streamRoutes } from "./streams/index.ts";
import { placesOf, readTask, TASK_JOBS, taskJob, taskQueue, taskRoutes } from "./tasks/index.ts";
import { exportTask, retryTranscode, transcodeRoutes, transcodeTask } from "./transcodes/index.ts";
import { usageRoutes } from "./usage/index.ts";
import { countViewersOfStreams, ViewCounter, ViewerLimit, viewRoutes } from "./views/index.ts";
import {
  DeliveryWorker,
  findAccessWebhook,
  noteAccessCall,
  queueDeliveries,
  type Snapshots,
  tellNewViewers,
  webhookRoutes,
} from "./webhooks/index.ts";

export type { DomainOptions, DomainSettings, Domains, PlayerPage, Processors } from "./floor.ts";
export { findMediaNodes, mayContract, type OpenSchema } from "./nodes/index.ts";
export { type IngestPorts, ingestAddresses } from "./public-address.ts";
export type { Schema } from "./schema.ts";

/** How long the addresses of nodes are not asked for again. */
const ADDRESSES_MS = 1_000;

/** Build the domain floor over an open, migrated database. Nothing runs until `node.join` and `housekeeping.start`. */
export function createDomains(options: DomainOptions): Domains {
  const { database, clock } = options;
  const deps = sharedDeps(options);
  const { db, events, publicAddress } = deps;
  /** Of what keeps broadcasts alive: it waits neither behind requests nor behind viewers. */
  const vital = { ...deps, db: database.vital };
  const feed = new EventFeed(deps);
  const liveFacts = {
    ...vital,
    countViewers: (trx: Trx, streamIds: readonly string[]) => countViewersOfStreams(trx, streamIds, clock.now()),
  };
  const writer = newId();
  const facts = new FactQueue({
    ...deps,
    write: (batch, dropped, number) => writeLiveFacts(liveFacts, batch, dropped, { writer, number }),
  });
  const { nodeName: name, nodePlace: place = null, nodeAddress: address = null, region, roles } = options.settings;
  const settleFacts = () => facts.flush();
  const node = new NodeMembership(
    { ...deps, db: database.lease, settleFacts },
    { name, place, address, region, roles, build: version, schemaLevel: options.schema?.level ?? null },
  );
  // All at once, so that ids which strangers make up cost no query each.
  const addresses = new LastingAnswers<ReadonlyMap<string, ReachedNode>>(clock, { freshMs: ADDRESSES_MS, capacity: 1 });
  const reached = () => addresses.get("", () => reachedNodes(db));
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
    wantedPulls: new WantedPulls({ ...deps, viewers: database.viewers }),
  });
  const snapshots: Snapshots = {
    subject: {
      stream: async (id) => ({ stream: await readStream(db, id, clock.now()) }),
      asset: async (id) => ({ asset: await readAsset(db, id, await publicAddress.current()) }),
      task: async (id) => ({ task: await readTask(db, id) }),
    },
    session: async (owner, id) => readSession(db, owner, id, await publicAddress.current()),
  };
  const deliveries = new DeliveryWorker({ ...deps, node, snapshots });
  const mediaCatalogue = new StoredCatalogue({ ...deps, playables });
  const work = createWork({ ...deps, catalogue: mediaCatalogue });
  const housekeeping = new Housekeeping({ ...work, vital: database.vital }, node);
  const rest = restOf([housekeeping, work.jobs, deliveries]);
  const refusals = new RefusedPublishes(() => clock.now());
  const { access } = playbackGate;
  const parts = { ...deps, node, feed, playables, ownerTokens, viewCounter, refusals, access, snapshots };
  return {
    publishGate: new StreamPublishGate({ ...vital, refusals, node, settleFacts }),
    pullGate: new StreamPullGate({ ...vital, node, settleFacts }),
    playbackGate,
    mediaCatalogue,
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
    clusterKeys: () => clusterKeys(deps),
    async routes(app, player = null, docs = null) {
      await addRoutes(app, parts, work);
      const hasOembed = player !== null && deps.isPublicUrlSet;
      if (player !== null) watchPages(app, { playables, hasOembed, ...player });
      if (hasOembed) oembedRoutes(app, { playables, publicUrl: () => publicAddress.latest });
      docsRoutes(app, { source: docs, version, clock: deps.clock });
    },
    ensureFirstAccount: (presetKey) => ensureAccount(db, { presetKey, newKey: newApiKey, now: clock.now() }),
    node: {
      get id() {
        return node.id;
      },
      addressOf: async (nodeId) => (await reached())?.get(nodeId)?.address ?? null,
      mediaPlaces: async () => [...((await reached())?.values() ?? [])].filter(({ servesMedia }) => servesMedia),
      hold: (sessions) => {
        const settle = (changed: readonly ChangedRow[]) => settleHeld(sessions, changed, { eventSink: facts, clock });
        node.hold({ held: () => sessions.held(), settle });
      },
      join: async () => {
        await events.partitions.maintain(db, clock.now());
        await publicAddress.current();
        await node.join((trx, nodeId) => releaseStreamsOfNode(trx, deps, nodeId));
      },
      heartbeat: () => node.heartbeat(),
      drain: () => node.drain(),
      hasSuccessor: async () => (await findMediaNodes(db, ["serving"])).some((id) => id !== node.id),
      leave: async () => {
        await facts.flush();
        await viewCounter.flush();
        await node.leave((trx, nodeId) => releaseStreamsOfNode(trx, deps, nodeId));
      },
    },
    uploads: new UploadDesk({ ...work, node }),
    housekeeping,
    deliveries,
    jobs: { start: (processors) => work.start(processors) },
    figures: () => ({ factsWaiting: facts.waiting, factsDropped: facts.dropped, feed: feed.counts }),
    rest,
    async close() {
      node.close();
      await feed.close();
      await rest();
      await facts.close();
      await viewCounter.close();
    },
  };
}

/** Closes all at the first call, together, as each of them may wait for somebody else. */
function restOf(workers: readonly { close(): Promise<void> }[]): () => Promise<void> {
  let resting: Promise<void> | null = null;
  return () => {
    resting ??= Promise.all(workers.map((worker) => worker.close())).then(() => {});
    return resting;
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

/** The queue with all kinds of jobs, and what adds to it. */
function createWork(shared: SharedDeps & { readonly catalogue: MediaCatalogue }) {
  const accessChanged = (playbackId: string) => shared.mediaControl.accessChanged(playbackId);
  const deps = { ...shared, accessChanged };
  const chores = [retentionJob(deps), orphanSweepJob(deps)];
  const jobs = new JobQueue({ ...deps, db: deps.database.jobs, kinds: [...chores, ...TASK_JOBS.map(placesOf)] });
  return {
    ...shared,
    jobs,
    queueTask: taskQueue(jobs),
    uploadSecret: () => serverSecret(shared, "upload-tokens"),
    start(processors: Processors): void {
      const needs = { ...deps, ...processors };
      jobs.start([
        ...chores,
        taskJob(deps, importTask(needs)),
        taskJob(deps, processingTask(needs)),
        taskJob(deps, clipTask(needs)),
        taskJob(deps, transcodeTask(needs)),
        taskJob(deps, exportTask(needs)),
      ]);
    },
  };
}

interface RouteDeps extends SharedDeps {
  readonly node: NodeMembership;
  readonly feed: EventFeed;
  readonly playables: PlayableFinder;
  readonly ownerTokens: OwnerTokens;
  readonly viewCounter: ViewCounter;
  readonly refusals: RefusedPublishes;
  readonly access: ContentGate["access"];
  readonly snapshots: Snapshots;
}

/** Every operation of the API. */
async function addRoutes(app: FastifyInstance, deps: RouteDeps, work: ReturnType<typeof createWork>): Promise<void> {
  const { db, clock } = deps;
  const { viewers } = deps.database;
  const assets = new AssetService(work);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(cookie);
  guardRequests(app, deps);
  accountRoutes(app, { ...deps, version, listNodes: () => listNodes(db, deps.node.id) });
  streamRoutes(app, deps);
  sessionRoutes(app, deps);
  assetRoutes(app, work);
  taskRoutes(app, {
    ...work,
    retryTask: (owner, task) =>
      task.output_asset_id === null ? retryTranscode(work, task.id) : assets.retryTask(owner, task),
  });
  transcodeRoutes(app, work);
  const viewersOf = async (id: string) => (await countViewersOfStreams(viewers, [id], clock.now())).get(id) ?? 0;
  playbackRoutes(app, { ...deps, viewers, viewersOf });
  clipRoutes(app, work);
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
