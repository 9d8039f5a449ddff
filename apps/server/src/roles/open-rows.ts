import { fileURLToPath } from "node:url";
import { mayContract, type OpenSchema, type Schema } from "../domains/index.ts";
import { type Database, type LaneSizes, openDatabase } from "../platform/database.ts";
import { migrate } from "../platform/migrate.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded-postgres.ts";
import type { Config } from "./config.ts";
import type { Opening } from "./opening.ts";
import { measureDatabase } from "./weir-metrics.ts";

/** Viewers go on without the database. */
const NEED_ROWS = ["publish", "api"] as const;
/** The most connections for requests and background work, for broadcasts, and for viewers: what a process of one role needs. */
const CONNECTIONS = {
  api: { db: 6, vital: 1, viewers: 2 },
  media: { db: 3, vital: 3, viewers: 2 },
  worker: { db: 3, vital: 1, viewers: 1 },
} as const satisfies Record<Config["roles"][number], LaneSizes>;
const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));

export interface Rows {
  readonly database: Database<Schema>;
  readonly schema: OpenSchema;
}

/** The migrated database: the one that is set, or the embedded one. */
export async function openRows(opening: Opening): Promise<Rows> {
  const { config, clock, log, signal, opened, readiness, metrics, dataFolder, share } = opening;
  const postgres = config.databaseUrl || share ? null : await startEmbeddedPostgres({ dataFolder, clock, log });
  if (postgres) {
    opened.defer(() => postgres.close());
    readiness.add("postgres", () => (postgres.isRunning() ? null : "restarting"), NEED_ROWS);
  }
  const connection = config.databaseUrl ?? share?.database ?? postgres?.address;
  if (!connection) throw new Error("no database: neither an address nor an embedded one");
  const database = await openDatabase<Schema>(connection, log, clock, {
    sizes: sizesFor(config.roles),
    direct: config.databaseDirectUrl,
    ...(signal && { signal }),
  });
  opened.defer(() => database.close());
  readiness.add("database", () => database.ping().then(() => null), NEED_ROWS);
  measureDatabase(metrics, database);
  const bring = () => migrate(database.unhurried, MIGRATIONS, log, mayContract);
  let state = await bring();
  const schema = {
    level: state.level,
    get waitsFor() {
      return state.waitsFor;
    },
    async contract() {
      state = await bring();
    },
  };
  return { database, schema };
}

/** A process of several roles needs what they need together. */
function sizesFor(roles: Config["roles"]): LaneSizes {
  const sum = (lane: "db" | "vital" | "viewers") => roles.reduce((total, role) => total + CONNECTIONS[role][lane], 0);
  return { db: sum("db"), vital: sum("vital"), viewers: sum("viewers") };
}
