import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "./schema.ts";

const BYTES = 32;
const CLUSTER = "cluster";
const MAX_CLUSTER_KEYS = 4;

/** The keys that sign requests between nodes, the newest first. To rotate, add a row `cluster.2` with 32 bytes; a minute later delete the first. */
export async function clusterKeys(deps: { db: Db; clock: Clock }): Promise<readonly Uint8Array[]> {
  const rows = await deps.db
    .selectFrom("server_secret")
    .select("secret")
    .where(sql<boolean>`(name = ${CLUSTER} or name like ${`${CLUSTER}.%`})`)
    .orderBy("created_at", "desc")
    .orderBy("name", "desc")
    .limit(MAX_CLUSTER_KEYS)
    .execute();
  if (rows.length === 0) return [await serverSecret(deps, CLUSTER)];
  return rows.map(({ secret }) => secret);
}

/** A secret that all nodes on the database share: 32 bytes under a name, created by the first node to ask. */
export async function serverSecret({ db, clock }: { db: Db; clock: Clock }, name: string): Promise<Uint8Array> {
  await db
    .insertInto("server_secret")
    .values({ name, secret: randomBytes(BYTES), created_at: clock.now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { secret } = await db
    .selectFrom("server_secret")
    .select("secret")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return secret;
}
