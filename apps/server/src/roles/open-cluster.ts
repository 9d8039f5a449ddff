import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { Domains, Schema } from "../domains/index.ts";
import { closeSlowReaders } from "../media/index.ts";
import {
  type ClusterHandlers,
  ClusterSeal,
  ClusterServer,
  OtherNodes,
  readClusterAddress,
  writeClusterAddress,
  writeLocalAddress,
} from "../platform/cluster/index.ts";
import { openRunFolder } from "../platform/data-folder.ts";
import type { Database } from "../platform/database.ts";
import { Listener } from "../platform/listener.ts";
import { LocalListener } from "../platform/local-listener.ts";
import { StartupError } from "../platform/startup-error.ts";
import { UPLOAD_PREFIXES, type UploadServer } from "../platform/uploads/upload-server.ts";
import type { MediaRole } from "./media.ts";
import type { Opening } from "./opening.ts";

/** How this node and the others of its server reach each other. */
export interface Cluster {
  /** Of this node. */
  readonly address: string;
  /** Of all processes of this server; none for Unix sockets. */
  readonly ports: readonly number[];
  readonly others: OtherNodes;
  /** From now on, what other nodes forward is answered by what this one has. */
  serve(parts: { readonly media: MediaRole | null; readonly uploads: UploadServer | null }): Promise<void>;
}

/** Null where the setting is unset and this is the only media process. Throws `StartupError` if the address is not to be had. */
export async function openCluster(
  opening: Opening,
  database: Pick<Database<Schema>, "ownAddress">,
  domains: () => Domains,
): Promise<Cluster | null> {
  const { clock, log, opened, proxies } = opening;
  const place = await placeOf(opening, database);
  if (place === null) return null;
  const { listener } = place;
  const nodeId = () => domains().node.id;
  const seal = new ClusterSeal({ clock, nodeId, readKeys: () => domains().clusterKeys() });
  const findAddress = (id: string) => domains().node.addressOf(id);
  const lookUp = { findAddress, findMedia: () => domains().node.mediaPlaces() };
  const others = new OtherNodes({ seal, nodeId, address: () => place.address(), ...lookUp, proxies, clock, log });
  opened.defer(() => others.close());
  const server = await ClusterServer.open({ listener, seal, proxies, clock, log });
  opened.defer(() => server.close());
  opened.adopt(closeSlowReaders(server.server, clock), (timer) => timer.cancel());
  return {
    address: place.address(),
    ports: place.ports(),
    others,
    async serve(parts) {
      await seal.open();
      server.serve(handlersOf(parts));
    },
  };
}

interface Place {
  readonly listener: Listener | LocalListener;
  /** Known once it is open. */
  address(): string;
  ports(): readonly number[];
}

async function placeOf(
  { config, share, serverFolder }: Opening,
  database: Pick<Database<Schema>, "ownAddress">,
): Promise<Place | null> {
  if (config.clusterAddress === null) {
    if (!share) return null;
    const local = new LocalListener(join(openRunFolder(serverFolder), `node-${share.number}.sock`));
    return { listener: local, address: () => writeLocalAddress(local.path), ports: () => [] };
  }
  if (config.databaseUrl === null)
    throw new StartupError("WEIR_CLUSTER_ADDRESS is for nodes on one database: set DATABASE_URL, too");
  const { host: given, port } = readClusterAddress(config.clusterAddress);
  const host = given ?? (await addressAtDatabase(database));
  // One for each process, in a row.
  const isInRow = share && port !== 0;
  const listener = new Listener("cluster", host, isInRow ? port + share.number - 1 : port);
  const ports = () => (isInRow ? Array.from({ length: share.of }, (_, nth) => port + nth) : [listener.port]);
  return { listener, address: () => writeClusterAddress(host, listener.port), ports };
}

function handlersOf({ media, uploads }: Parameters<Cluster["serve"]>[0]): ClusterHandlers {
  return {
    forwarded(req, res, forwarded) {
      if (uploads && UPLOAD_PREFIXES.some((prefix) => req.url?.startsWith(prefix))) uploads.handle(req, res, true);
      else if (media) media.handleHttp(req, res, forwarded);
      else nothing(res);
    },
    live: (url, res) => (media ? media.tellWindow(url, res) : nothing(res)),
    moved: (told, res) => (media ? media.handOver(told, res) : nothing(res)),
    sent: (told, res) => (media ? media.countSent(told, res) : nothing(res)),
    viewers: (told, res) => (media ? media.countViewers(told, res) : nothing(res)),
  };
}

const nothing = (res: ServerResponse): void => void res.writeHead(404, { "content-length": "0" }).end();

async function addressAtDatabase(database: Pick<Database<Schema>, "ownAddress">): Promise<string> {
  const address = await database.ownAddress();
  if (address) return address;
  throw new StartupError(
    "WEIR_CLUSTER_ADDRESS=auto takes the address by which this node reaches the database, which it reaches by a local socket: give an address and a port",
  );
}
