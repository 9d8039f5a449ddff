import type { ServerSettings } from "@weir/contract";
import { sql } from "kysely";
import type { Db, Trx } from "../schema.ts";
import { type NodeInput, type NodeState, nextNodeStatus } from "./node-status.ts";

/** A lease expires when its heartbeat is older than this by the database's clock. */
export const NODE_LEASE_SECONDS = 8;

const MAX_LISTED = 1000;

export interface NodeRow {
  readonly id: string;
  readonly epoch: number;
}

/** Take over the row of this name, or create it; the node is then `serving` with a new epoch. */
export async function joinNode(
  trx: Trx,
  node: { id: string; name: string; region: string; roles: string[] },
): Promise<NodeRow> {
  const { id, name, region, roles } = node;
  const known = await trx.selectFrom("node").select("state").where("name", "=", name).forUpdate().executeTakeFirst();
  const joining = known ? nextNodeStatus(known.state, "join") : "joining";
  const row = await trx
    .insertInto("node")
    .values({ id, name, region, roles, state: nextNodeStatus(joining, "ready") })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet((set) => ({
        region,
        roles,
        state: set.ref("excluded.state"),
        epoch: sql<number>`node.epoch + 1`,
        joined_at: sql<Date>`now()`,
        seen_at: sql<Date>`now()`,
      })),
    )
    .returning(["id", "epoch"])
    .executeTakeFirstOrThrow();
  return { id: row.id, epoch: Number(row.epoch) };
}

/** Renew the lease. False if the node is gone or another process took its name. */
export async function renewNode(db: Db, { id, epoch }: NodeRow): Promise<boolean> {
  const result = await db
    .updateTable("node")
    .set({ seen_at: sql<Date>`now()` })
    .where("id", "=", id)
    .where("epoch", "=", String(epoch))
    .where("state", "!=", "gone")
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Apply an input to this node's lifecycle. Does nothing if another process took its name, or if the node is already gone. */
export async function moveNode(trx: Trx, { id, epoch }: NodeRow, input: NodeInput): Promise<NodeState> {
  const row = await trx
    .selectFrom("node")
    .select("state")
    .where("id", "=", id)
    .where("epoch", "=", String(epoch))
    .forUpdate()
    .executeTakeFirst();
  if (!row || row.state === "gone") return "gone";
  const state = nextNodeStatus(row.state, input);
  await trx.updateTable("node").set({ state }).where("id", "=", id).execute();
  return state;
}

const isExpired = sql`state <> 'gone' and seen_at < now() - make_interval(secs => ${NODE_LEASE_SECONDS})`;

/** Whether the lease of any node has expired. */
export const hasExpiredNodes = sql`exists (select from node where ${isExpired})`;

/** Declare every other node with an expired lease gone, and return them. */
export async function expireNodes(db: Db, self: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update node set state = 'gone' where ${isExpired} and id <> ${self} returning id`.execute(db);
  return rows.map((row) => row.id);
}

/** All nodes that are not gone, and those that went within a day, by name. */
export async function listNodes(db: Db, self: string): Promise<ServerSettings["nodes"]> {
  const rows = await db
    .selectFrom("node")
    .selectAll()
    .where(sql<boolean>`(state <> 'gone' or seen_at > now() - interval '1 day')`)
    .orderBy("name")
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ id, name, region, roles, state, joined_at, seen_at }) => {
    return {
      id,
      name,
      region,
      roles,
      state,
      joinedAt: joined_at.getTime(),
      lastSeen: seen_at.getTime(),
      isThis: id === self,
    };
  });
}

/** The serving node with role media that was heard from last; null if there is none. */
export async function findServingMediaNode(db: Db): Promise<string | null> {
  const node = await db
    .selectFrom("node")
    .select("id")
    .where("state", "=", "serving")
    .where(sql<boolean>`'media' = any(roles)`)
    .orderBy("seen_at", "desc")
    .executeTakeFirst();
  return node?.id ?? null;
}
