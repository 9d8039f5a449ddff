import { sql } from "kysely";
import type { StreamRow } from "./schema.ts";

/** The columns of a stream's row that decide its health. */
export type Now = Pick<StreamRow, "state" | "issues" | "transcoding" | "ingest_rate" | "profiles" | "target_states">;

const SOURCE_AWAY = "No media comes from the broadcaster; its session stays open for it to come back.";

/** The faults that harm the broadcast, one sentence each. */
export function sourceIssues({ state, issues }: Pick<Now, "state" | "issues">): string[] {
  if (state === "reconnecting") return [SOURCE_AWAY];
  return issues?.open.filter((issue) => issue.isHarmful).map(({ sentence }) => sentence) ?? [];
}

/**
 * Whether the broadcast is healthy: `isHealthy` of a stream and its session, and `healthy` of its health record. Null without a broadcast, until
 * its ladder (if it has one) has encoded a segment, and until its targets have connected or failed.
 */
export function verdictOf(now: Now): boolean | null {
  if (now.state === "idle") return null;
  if (sourceIssues(now).length > 0) return false;
  // A ladder with no rung below the source sends no report; any other sends one with the first measurement.
  const isUnread = now.transcoding ? now.transcoding.state === "starting" : now.ingest_rate === 0;
  const isConnecting = now.target_states?.some(({ state }) => state === "pending") ?? false;
  return (now.profiles.length > 0 && isUnread) || isConnecting ? null : true;
}

/** The same for a row that a query reads. */
export const verdictInSql = sql`(case when state = 'idle' or last_seen = 0 then null
  when state <> 'live' or coalesce(issues @> '{"open": [{"isHarmful": true}]}', false) then false
  when profiles <> '[]' and coalesce(transcoding->>'state' = 'starting', ingest_rate = 0) then null
  when coalesce(target_states @> '[{"state": "pending"}]', false) then null else true end)`;
