import type { Overview } from "@weir/contract";
import { sql } from "kysely";
import type { Db, Owner } from "../schema.ts";

/** PostgreSQL counts in bigint, which the driver returns as text. */
type Counts<Of> = { readonly [Name in keyof Of]: string };

export async function countStreams(db: Db, { projectId }: Owner): Promise<Overview["streams"]> {
  const { rows } = await sql<Counts<Overview["streams"]>>`
    select count(*) as total, count(*) filter (where state <> 'idle') as live,
      count(*) filter (where state = 'reconnecting'
        or state = 'live' and coalesce(issues @> '{"open": [{"isHarmful": true}]}', false)) as unhealthy,
      coalesce(sum(outgoing_rate) filter (where state <> 'idle'), 0)::text as "outgoingRate"
    from stream where project_id = ${projectId} and deleted_at is null`.execute(db);
  return numbersOf(rows[0], { total: 0, live: 0, unhealthy: 0, outgoingRate: 0 });
}

export async function countWebhooks(db: Db, { projectId }: Owner): Promise<Overview["webhooks"]> {
  const { rows } = await sql<Counts<Overview["webhooks"]>>`
    select count(*) as total, count(*) filter (where paused_at is null and failures > 0) as failing,
      count(*) filter (where paused_at is not null) as paused
    from webhook where project_id = ${projectId}`.execute(db);
  return numbersOf(rows[0], { total: 0, failing: 0, paused: 0 });
}

function numbersOf<Of extends Readonly<Record<string, number>>>(row: Counts<Of> | undefined, none: Of): Of {
  return row ? (Object.fromEntries(Object.keys(none).map((name) => [name, Number(row[name])])) as Of) : none;
}
