import { sql } from "kysely";
import type { Clock } from "../../platform/clock.ts";
import type { PullGate, PullLease, PullSource, PullState } from "../../ports/index.ts";
import { isNodeRunning } from "../nodes/index.ts";
import type { Db } from "../schema.ts";
import { isWatched, keepWatched } from "./watched-pulls.ts";

/** Without a claim for so long, the database was away, or the process stood still. */
const AWAY_MS = 10_000;
const COUNTED_AGAIN_MS = 30_000;

export interface PullGateDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly node: { readonly id: string; readonly isDraining: boolean };
  /** Resolves when all earlier facts are in the database: a broadcast that ended here must not count as another's. */
  readonly settleFacts: () => Promise<void>;
}

/**
 * Which node pulls which stream. A pull's lease is that of its node: it lasts as long as the node's heartbeats. So it needs no renewal of its own,
 * and nodes agree at the same moment on a stream's publishers and on who pulls it. A node that lost both without knowing is fenced as a publisher.
 */
export class StreamPullGate implements PullGate {
  readonly #deps: PullGateDeps;
  #claimed: { readonly at: number; readonly monotonic: number } | null = null;
  /** `until` is monotonic. */
  #away: { readonly at: number; readonly until: number } | null = null;

  constructor(deps: PullGateDeps) {
    this.#deps = deps;
  }

  /** Also those that an earlier process of this node had. */
  async claim(room: number): Promise<readonly PullLease[]> {
    const { db, node, clock } = this.#deps;
    const now = clock.now();
    const watchedAt = this.#watchedAt();
    const { rows } = await sql<{ id: string; version: string; isWatched: boolean }>`
      with free as (
        select s.id from stream s join account a on a.id = s.user_id
        where s.pull_wanted and s.deleted_at is null and not s.suspended and not a.suspended and ${isWatched(now)}
          and s.pull_node_id is distinct from ${node.id}::uuid and not ${isNodeRunning(sql`s.pull_node_id`)}
        order by s.id limit ${node.isDraining ? 0 : room} for update of s skip locked
      ), taken as (
        update stream s set pull_node_id = ${node.id}::uuid from free where s.id = free.id returning s.id, s.pull_version
      ), kept as (${keepWatched(node.id, now, watchedAt)})
      select id, pull_version as version, true as "isWatched" from taken union all
      select s.id, s.pull_version, ${isWatched(watchedAt)} from stream s join account a on a.id = s.user_id
      where s.pull_wanted and s.pull_node_id = ${node.id}::uuid and s.deleted_at is null and not s.suspended and not a.suspended`.execute(
      db,
    );
    this.#claimed = { at: watchedAt, monotonic: clock.monotonic() };
    return rows.map(({ id, version, ...row }) => ({
      streamId: id,
      version: Number(version),
      isWatched: row.isWatched,
    }));
  }

  /**
   * The time of which it must be watched: now. Counts of viewers are not written either while the database is away: what was watched before it counts for
   * some time after it.
   */
  #watchedAt(): number {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const last = this.#claimed;
    if (last && now - last.monotonic > AWAY_MS) this.#away = { at: last.at, until: now + COUNTED_AGAIN_MS };
    return this.#away && now < this.#away.until ? this.#away.at : clock.now();
  }

  async source({ streamId, version }: PullLease): Promise<PullSource | "busy" | null> {
    const { db, node, settleFacts } = this.#deps;
    await settleFacts();
    const row = await db
      .selectFrom("stream")
      .select(["pull", "stream_key", "state"])
      .where("id", "=", streamId)
      .where("pull_wanted", "=", true)
      .where("pull_node_id", "=", node.id)
      .where("pull_version", "=", String(version))
      .where("suspended", "=", false)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (!row?.pull) return null;
    if (row.state === "live") return "busy";
    return { url: row.pull.source, headers: row.pull.headers ?? {}, streamKey: row.stream_key };
  }

  async report({ streamId, version }: PullLease, state: PullState, reason: string | null): Promise<void> {
    const { db, node, clock } = this.#deps;
    const status = { state, since: clock.now(), ...(reason !== null && { reason }) };
    await db
      .updateTable("stream")
      .set({ pull_status: JSON.stringify(status), ...(state === "ended" && { pull_wanted: false }) })
      .where("id", "=", streamId)
      .where("pull_node_id", "=", node.id)
      .where("pull_version", "=", String(version))
      .where("pull_wanted", "=", true)
      .execute();
  }
}
