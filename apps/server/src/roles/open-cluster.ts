import type { ServerResponse } from "node:http";
import type { Domains, Schema } from "../domains/index.ts";
import { closeSlowReaders } from "../media/index.ts";
import {
  type ClusterHandlers,
  ClusterSeal,
  ClusterServer,
  OtherNodes,
  readClusterAddress,
  writeClusterAddress,
} from "../platform/cluster/index.ts";
import type { Database } from "../platform/database.ts";
import { Listener } from "../platform/listener.ts";
import { StartupError } from "../platform/startup-error.ts";
import { UPLOAD_PREFIXES, type UploadServer } from "../platform/uploads/upload-server.ts";
import type { MediaRole } from "./media.ts";
import type { Opening } from "./opening.ts";

/** How this node and the others of its server reach each other. */
export interface Cluster {
  /** Of this node. */
  readonly address: string;
  readonly port: number;
  readonly others: OtherNodes;
  /** From now on, what other nodes forward is answered by what this one has. */
  serve(parts: { readonly media: MediaRole | null; readonly uploads: UploadServer | null }): Promise<void>;
}

/** Null where the setting is unset. Throws `StartupError` if the address is not to be had. */
export async function openCluster(
  opening: Opening,
  database: Pick<Database<Schema>, "ownAddress">,
  domains: () => Domains,
): Promise<Cluster | null> {
  const { config, clock, log, opened, proxies } = opening;
  if (config.clusterAddress === null) return null;
  if (config.databaseUrl === null)
    throw new StartupError("WEIR_CLUSTER_ADDRESS is for nodes on one database: set DATABASE_URL, too");
  const { host: given, port } = readClusterAddress(config.clusterAddress);
  const host = given ?? (await addressAtDatabase(database));
  const listener = new Listener("cluster", host, port);
  const nodeId = () => domains().node.id;
  const seal = new ClusterSeal({ clock, nodeId, readKeys: () => domains().clusterKeys() });
  const findAddress = (id: string) => domains().node.addressOf(id);
  const others = new OtherNodes({ seal, nodeId, findAddress, proxies, clock, log });
  opened.defer(() => others.close());
  const server = await ClusterServer.open({ listener, seal, proxies, clock, log });
  opened.defer(() => server.close());
  opened.adopt(closeSlowReaders(server.server, clock), (timer) => timer.cancel());
  return {
    address: writeClusterAddress(host, listener.port),
    port: listener.port,
    others,
    async serve(parts) {
      await seal.open();
      server.serve(handlersOf(parts));
    },
  };
}

function handlersOf({ media, uploads }: Parameters<Cluster["serve"]>[0]): ClusterHandlers {
  return {
    forwarded(req, res, forwarded) {
      if (uploads && UPLOAD_PREFIXES.some((prefix) => req.url?.startsWith(prefix))) uploads.handle(req, res, true);
      else if (media) media.handleHttp(req, res, forwarded);
      else nothing(res);
    },
    live: (url, res) => (media ? media.tellWindow(url, res) : nothing(res)),
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
