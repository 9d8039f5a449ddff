import type { ServerSettings } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
import { refuseNewerSchema } from "../../platform/migrate.ts";
import type { HeldSession, LivePlace } from "../../ports/index.ts";
import type { Duty } from "../duty.ts";
import type { Db, Trx } from "../schema.ts";
import { type NodeInput, type NodeState, nextNodeStatus } from "./node-status.ts";

/** A lease expires when its heartbeat is older than this by the database's clock. */
export const NODE_LEASE_SECONDS = 8;

const MAX_LISTED = 1000;
/** Between a server's name and the number of one of its processes. */
export const PROCESS_MARK = "/";
const STATES_BY_USE: readonly NodeState[] = ["serving", "joining", "draining", "gone"];

const isExpired = sql`state <> 'gone' and seen_at < now() - make_interval(secs => ${NODE_LEASE_SECONDS})`;

export interface NodeRow {
  readonly id: string;
  readonly epoch: number;
}

export interface JoiningNode {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly roles: string[];
  readonly startId: string;
  readonly place: string | null;
  readonly address: string | null;
  readonly schemaLevel: number | null;
  readonly build: string;
}

/** A process of another start has the name, and its lease has not expired. */
export class NameInUse extends Error {
  readonly seenAt: Date;

  constructor(seenAt: Date) {
    super("another process has the node's name");
    this.seenAt = seenAt;
  }
}

/** Milliseconds since the Unix epoch, by the database's clock. */
const databaseNow = sql<string>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * Take over the row of this name, or create it; the node is then `serving` with a new epoch. Throws `NameInUse` if its process may be running: one of
 * an earlier start on the same data folder is not.
 */
export async function joinNode(
  trx: Trx,
  { id, name, region, roles, startId, place, address, schemaLevel, build }: JoiningNode,
): Promise<NodeRow & { readonly now: number }> {
  // First, as a migration holds this lock when it locks tables.
  if (schemaLevel !== null) await refuseNewerSchema(trx, schemaLevel);
  const known = await trx
    .selectFrom("node")
    .select(["state", "seen_at", "start_id", "place", sql<boolean>`${isExpired}`.as("expired")])
    .where("name", "=", name)
    .forUpdate()
    .executeTakeFirst();
  const isOther = known && known.start_id !== null && known.start_id !== startId;
  const isElsewhere = known && (place === null || known.place !== place);
  if (isOther && isElsewhere && known.state !== "gone" && !known.expired) throw new NameInUse(known.seen_at);
  const joining = known ? nextNodeStatus(known.state, "join") : "joining";
  const told = { region, roles, start_id: startId, place, address, schema_level: schemaLevel, build };
  const row = await trx
    .insertInto("node")
    .values({ id, name, state: nextNodeStatus(joining, "ready"), ...told })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet((set) => ({
        ...told,
        state: set.ref("excluded.state"),
        epoch: sql<number>`node.epoch + 1`,
        joined_at: sql<Date>`now()`,
        seen_at: sql<Date>`now()`,
      })),
    )
    .returning(["id", "epoch", databaseNow.as("now")])
    .executeTakeFirstOrThrow();
  return { id: row.id, epoch: Number(row.epoch), now: Number(row.now) };
}

/** The row of a held session's stream, where it is not the one of a session that is live here. */
export interface ChangedRow {
  readonly streamId: string;
  readonly heldSessionId: string;
  readonly heldEpoch: number;
  readonly sessionId: string | null;
  readonly epoch: number;
  readonly state: "idle" | "live" | "reconnecting";
  readonly isHere: boolean;
  readonly isSuspended: boolean;
  readonly isDeleted: boolean;
}

export interface Renewal {
  /** False if the node is gone or another process took its name. */
  readonly isRenewed: boolean;
  /** By the database's clock, in milliseconds since the Unix epoch. */
  readonly now: number;
  readonly changed: readonly ChangedRow[];
}

/** Renew the lease, and compare what the node holds with the rows: one statement. */
export async function renewNode(db: Db, { id, epoch }: NodeRow, held: readonly HeldSession[]): Promise<Renewal> {
  const { rows } = await sql<{ renewed: boolean; now: string; changed: ChangedRow[] | null }>`
    with renewed as (
      update node set seen_at = now() where id = ${id} and epoch = ${epoch}::bigint and state <> 'gone' returning id
    )
    select exists (select from renewed) as renewed, ${databaseNow} as now, (
      select json_agg(json_build_object('streamId', s.id, 'heldSessionId', h.session_id, 'heldEpoch', h.epoch, 'sessionId', s.session_id,
        'epoch', s.epoch, 'state', s.state, 'isHere', s.node_id is not distinct from ${id}::uuid,
        'isSuspended', s.suspended or a.suspended, 'isDeleted', s.deleted_at is not null))
      from unnest(${held.map(({ streamId }) => streamId)}::uuid[], ${held.map(({ sessionId }) => sessionId)}::uuid[],
        ${held.map((session) => session.epoch)}::bigint[]) as h(stream_id, session_id, epoch)
      join stream s on s.id = h.stream_id join account a on a.id = s.user_id
      where s.epoch <> h.epoch or s.session_id is distinct from h.session_id or s.state <> 'live'
    ) as changed`.execute(db);
  const [row] = rows;
  return { isRenewed: row?.renewed === true, now: Number(row?.now ?? 0), changed: row?.changed ?? [] };
}

/** Apply an input to this node's lifecycle. Does nothing if another process took its name, and moves no node that is already gone. */
export async function moveNode(trx: Trx, { id, epoch }: NodeRow, input: NodeInput): Promise<NodeState> {
  const row = await trx
    .selectFrom("node")
    .select("state")
    .where("id", "=", id)
    .where("epoch", "=", String(epoch))
    .forUpdate()
    .executeTakeFirst();
  if (!row) return "gone";
  const isGone = row.state === "gone";
  if (isGone && input !== "leave") return "gone";
  const state = isGone ? "gone" : nextNodeStatus(row.state, input);
  // One that left has told all it had; one that is lost may come back with more.
  const start = input === "leave" ? { start_id: null } : {};
  await trx
    .updateTable("node")
    .set({ state, ...start })
    .where("id", "=", id)
    .execute();
  return state;
}

/** Whether a node has a lease. */
export const isNodeRunning = (id: RawBuilder<unknown>) => sql`exists (
  select from node where node.id = ${id} and node.state <> 'gone' and node.seen_at >= now() - make_interval(secs => ${NODE_LEASE_SECONDS}))`;

/** Whether a node left or was lost so long ago that its disk is not expected back. */
export const isGivenUp = (node: RawBuilder<unknown>, waitMs: number) =>
  sql`${node}.state = 'gone' and ${node}.seen_at <= now() - make_interval(secs => ${waitMs / 1000}::float8)`;

/** Whether a node runs, or may, whose build does not know the migration with this number. */
const hasOlderBuilds = (number: number) =>
  sql`exists (select from node where state <> 'gone' and coalesce(schema_level, 0) < ${number}::int)`;

/** Whether a migration may take away what older builds use: none of them runs. */
export async function mayContract(trx: Trx, number: number): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`select ${hasOlderBuilds(number)} as has`.execute(trx);
  return rows[0]?.has === false;
}

/** The tables of the database, as this build knows them. */
export interface OpenSchema {
  /** The newest migration that this build knows. */
  readonly level: number;
  /** The oldest that waits until no older build runs; null if none does. */
  readonly waitsFor: number | null;
  /** Apply those that may be applied now. */
  contract(): Promise<void>;
}

/** Migrations that older builds keep waiting. */
export const contractSchema: Duty<{ readonly schema?: OpenSchema | undefined }> = {
  what: "apply the migrations that waited for older builds",
  isDue: (_now, { schema }) => (schema?.waitsFor ? sql`not ${hasOlderBuilds(schema.waitsFor)}` : sql`false`),
  async run({ schema }) {
    if (schema?.waitsFor) await schema.contract();
  },
};

/** A node that is not gone, and says where it is reached. */
export interface ReachedNode extends LivePlace {
  /** It has a lease and is not about to leave, and viewers ask it. */
  readonly servesMedia: boolean;
}

export async function reachedNodes(db: Db): Promise<ReadonlyMap<string, ReachedNode>> {
  const rows = await db
    .selectFrom("node")
    .select([
      "id",
      "address",
      sql<boolean>`state = 'serving' and not (${isExpired}) and 'media' = any(roles)`.as("serves"),
    ])
    .where("state", "<>", "gone")
    .where("address", "is not", null)
    .limit(MAX_LISTED)
    .execute();
  return new Map(
    rows.map(({ id, address, serves }) => [id, { nodeId: id, address: address ?? "", servesMedia: serves }]),
  );
}

/** Where a node is reached; null if it has no lease, or tells no address. */
export async function findPlace(db: Db, nodeId: string): Promise<LivePlace | null> {
  const row = await db
    .selectFrom("node")
    .select("address")
    .where("id", "=", nodeId)
    .where("state", "<>", "gone")
    .where(sql<boolean>`not (${isExpired})`)
    .executeTakeFirst();
  return row?.address ? { nodeId, address: row.address } : null;
}

/** Whether the lease of any node has expired. */
export const hasExpiredNodes = sql`exists (select from node where ${isExpired})`;

/** Declare every other node with an expired lease gone, and return them. */
export async function expireNodes(db: Db, self: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update node set state = 'gone' where ${isExpired} and id <> ${self} returning id`.execute(db);
  return rows.map((row) => row.id);
}

/**
 * All nodes that are not gone, and those that went within a day, by name. The processes of one server are one node: the first's, whose name the names
 * of the others begin with.
 */
export async function listNodes(db: Db, self: string): Promise<ServerSettings["nodes"]> {
  const rows = await db
    .selectFrom("node")
    .selectAll()
    .where(sql<boolean>`(state <> 'gone' or seen_at > now() - interval '1 day')`)
    .orderBy("name")
    .limit(MAX_LISTED)
    .execute();
  const servers = Map.groupBy(rows, ({ name }) => name.split(PROCESS_MARK)[0] ?? name);
  return [...servers].flatMap(([name, processes]) => {
    const [first] = processes;
    if (!first) return [];
    const { id, region, joined_at, build } = first;
    return {
      id,
      name,
      region,
      roles: [...new Set(processes.flatMap(({ roles }) => roles))],
      state: stateOfServer(processes.map(({ state }) => state)),
      joinedAt: joined_at.getTime(),
      lastSeen: Math.max(...processes.map(({ seen_at }) => seen_at.getTime())),
      ...(build !== null && { version: build }),
      isThis: processes.some((one) => one.id === self),
    };
  });
}

/** Of the processes of one server, the state that says most of it. */
const stateOfServer = (states: readonly NodeState[]): NodeState =>
  STATES_BY_USE.find((state) => states.includes(state)) ?? "gone";

/** The running nodes with role media in one of these states, the one heard from last first. */
export async function findMediaNodes(db: Db, states: readonly NodeState[]): Promise<string[]> {
  const nodes = await db
    .selectFrom("node")
    .select("id")
    .where("state", "in", states)
    .where("seen_at", ">=", sql<Date>`now() - make_interval(secs => ${NODE_LEASE_SECONDS})`)
    .where(sql<boolean>`'media' = any(roles)`)
    .orderBy("seen_at", "desc")
    .execute();
  return nodes.map(({ id }) => id);
}
