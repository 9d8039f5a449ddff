/** What the domain floor is built of, and what it has. */
import type { EffectiveSetting } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import type { Audiences } from "../platform/audience/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import type { Secret } from "../platform/secret.ts";
import type { ObjectStore } from "../platform/storage/object-store.ts";
import type { UploadGate } from "../platform/uploads/upload-gate.ts";
import type { ImportRequest } from "../platform/uploads/upload-import.ts";
import type {
  AssetProcessor,
  ClipMaker,
  EventSink,
  FileExporter,
  FileTranscoder,
  HeldSessions,
  LivePlace,
  MediaCatalogue,
  MediaControl,
  PlaybackGate,
  PublishGate,
  PullGate,
} from "../ports/index.ts";
import type { Passwords } from "./accounts/index.ts";
import type { DocsSource } from "./docs/index.ts";
import type { FeedCounts } from "./events/index.ts";
import type { Housekeeping } from "./housekeeping.ts";
import type { OpenSchema } from "./nodes/index.ts";
import type { Headroom } from "./overview/index.ts";
import type { WatchPageDeps } from "./playback/index.ts";
import type { IngestPorts } from "./public-address.ts";
import type { Schema } from "./schema.ts";
import type { DomainConfig } from "./settings.ts";
import type { DeliveryWorker } from "./webhooks/index.ts";

export interface DomainSettings extends Omit<DomainConfig, "keepOriginals"> {
  /** The same across restarts of this process, different from every other's: by it a booting node finds what it held before. */
  readonly nodeName: string;
  /** The data folder, as no other folder of any machine is named; null if that is not known. */
  readonly nodePlace?: string | null;
  /** Where other nodes reach this one, an IP address and a port; null or absent if they do not. */
  readonly nodeAddress?: string | null;
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
  ingestPorts(): IngestPorts;
  /** That SRT publishers must know; null for none. */
  readonly srtPassphrase: Secret | null;
  /** UDP port of WebRTC; null or absent where it is off. */
  readonly webrtcPort?: number | null;
}

export interface DomainOptions {
  readonly database: Pick<Database<Schema>, "db" | "vital" | "lease" | "viewers" | "jobs" | "listen" | "notify">;
  /** Absent where nothing is migrated. */
  readonly schema?: OpenSchema;
  readonly clock: Clock;
  /** The database gave its time in answer to a question of `askedAt`, on the monotonic clock. */
  readonly followClock?: (databaseNow: number, askedAt: number) => void;
  readonly log: Log;
  readonly audiences: Audiences;
  readonly settings: DomainSettings;
  readonly mediaControl: MediaControl;
  /** Where recordings and assets are. */
  readonly store: Pick<ObjectStore, "children" | "delete" | "deletePrefix" | "read">;
  /** The only way to addresses that customers give. */
  readonly outbound: Outbound;
  /** How people's passwords are hashed. */
  readonly passwords?: Passwords;
}

/** What a worker's tasks are done with. */
export interface Processors {
  readonly assetProcessor: AssetProcessor;
  readonly clipMaker: ClipMaker;
  readonly fileTranscoder: FileTranscoder;
  readonly fileExporter: FileExporter;
  /** Bring the file at a customer's address to the object store as if it had been uploaded. */
  importFile(request: ImportRequest): Promise<void>;
}

/** The public page of the player, as it is built. */
export type PlayerPage = Omit<WatchPageDeps, "playables">;

export interface Domains {
  readonly publishGate: PublishGate;
  readonly pullGate: PullGate;
  readonly playbackGate: PlaybackGate;
  readonly mediaCatalogue: MediaCatalogue;
  readonly eventSink: EventSink;
  /** The key that seals viewers' tokens: 32 bytes, the same on every node. */
  viewerSecret(): Promise<Uint8Array>;
  /** The keys that sign requests between nodes, the newest first. */
  clusterKeys(): Promise<readonly Uint8Array[]>;
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
    /** Where a node that is not gone is reached; null if it does not say, or there is none. */
    addressOf(nodeId: string): Promise<string | null>;
    /** The nodes that viewers may ask, of those that say where they are reached. */
    mediaPlaces(): Promise<readonly LivePlace[]>;
    /** From now on, each heartbeat compares what these hold with the rows. */
    hold(sessions: HeldSessions): void;
    /** Renew the lease, as happens every 2 s. */
    heartbeat(): Promise<void>;
    /** Declare what this node held in an earlier life lost, and begin to serve. Before any gate is asked. */
    join(): Promise<void>;
    /** Refuse new publishers. */
    drain(): Promise<void>;
    /** Whether another node takes publishers. */
    hasSuccessor(): Promise<boolean>;
    /** Last facts are written, leases given back. */
    leave(): Promise<void>;
  };
  /** Who may upload what, and what becomes of it. */
  readonly uploads: UploadGate & {
    /** This node's spool has the files of these nodes, by their names, which are started no more. */
    adopt(nodes: readonly string[]): Promise<void>;
  };
  readonly housekeeping: Pick<Housekeeping, "start" | "tick">;
  /** Calls webhooks. */
  readonly deliveries: Pick<DeliveryWorker, "start" | "run">;
  /** Works on jobs. */
  readonly jobs: { start(processors: Processors): void };
  /** The metrics that an operator watches. */
  figures(): { readonly factsWaiting: number; readonly factsDropped: number; readonly feed: FeedCounts };
  /** Ends the work that no request asked for, within seconds. Idempotent. */
  rest(): Promise<void>;
  /** Rests, and writes what is still queued. Idempotent. The database stays open: it is its opener's. */
  close(): Promise<void>;
}
