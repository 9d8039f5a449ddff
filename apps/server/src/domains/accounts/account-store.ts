import type { Access, Account } from "@weir/contract";
import { sql } from "kysely";
import type { Principal } from "../api/index.ts";
import { newId } from "../ids.ts";
import type { Db, Owner, Trx } from "../schema.ts";
import { hashSecret, keyPrefix } from "./api-key.ts";

interface PrincipalRow {
  id: string;
  project_id: string;
  user_id: string;
  name: string;
  prefix: string;
  suspended: boolean;
  access: Access | null;
  account_wide: boolean;
  last_used_at: string | null;
  person_id: string | null;
  expires_at: string | null;
}

/** `last_used_at` is accurate to this interval. */
const LAST_USED_MS = 60_000;
/** An arbitrary number that all processes share, so that two starting together create one account. */
const FIRST_ACCOUNT_LOCK = 7_301_002;

const principalOf = (row: PrincipalRow): Principal => ({
  projectId: row.project_id,
  userId: row.user_id,
  keyId: row.id,
  keyName: row.name,
  keyPrefix: row.prefix,
  personId: row.person_id,
  keyProjectId: row.project_id,
  reach: row.account_wide ? "account" : "project",
  suspended: row.suspended,
  access: row.access,
  cookieExpiresAt: row.expires_at === null ? null : Number(row.expires_at),
});

/** Of the account `a`. */
const firstProject = sql`(
  select p.id from project p where p.user_id = a.id and p.deleted_at is null order by p.created_at, p.id limit 1
)`;

/** The owner of this API key. */
export async function findKey(db: Db, apiKey: string, now: number): Promise<Principal | null> {
  const { rows } = await sql<PrincipalRow>`
    select k.id, k.project_id, k.user_id, k.name, k.prefix, k.access, a.suspended, k.last_used_at,
      false as account_wide, null as person_id, null as expires_at
    from api_key k join account a on a.id = k.user_id where k.hash = ${hashSecret(apiKey)}`.execute(db);
  const [row] = rows;
  if (!row) return null;
  if (Number(row.last_used_at) < now - LAST_USED_MS) {
    // The update repeats the condition, so that only one of many concurrent requests writes.
    await sql`update api_key set last_used_at = ${now}::bigint
      where id = ${row.id} and coalesce(last_used_at, 0) < ${now - LAST_USED_MS}::bigint`.execute(db);
  }
  return principalOf(row);
}

/** The owner of this dashboard cookie, while it is valid. */
export async function findDashboardSession(db: Db, token: string, now: number): Promise<Principal | null> {
  const { rows } = await sql<PrincipalRow>`
    select coalesce(k.id, w.id) as id, coalesce(k.project_id, ${firstProject}) as project_id, d.user_id,
      coalesce(k.name, w.name) as name, coalesce(k.prefix, '') as prefix, k.access, a.suspended, k.last_used_at,
      coalesce(k.account_wide, true) as account_wide, w.id as person_id, d.expires_at
    from dashboard_session d join account a on a.id = d.user_id
      left join api_key k on k.id = d.api_key_id left join person w on w.id = d.person_id
    where d.hash = ${hashSecret(token)} and d.expires_at > ${now}::bigint`.execute(db);
  return rows[0] ? principalOf(rows[0]) : null;
}

/** A sign-in by key or person, valid until `expiresAt`. */
export interface NewDashboardSession {
  readonly userId: string;
  readonly keyId: string | null;
  readonly personId: string | null;
  readonly token: string;
  readonly now: number;
  readonly expiresAt: number;
}

export async function insertDashboardSession(db: Db | Trx, session: NewDashboardSession): Promise<void> {
  const { userId, keyId, personId, token, now, expiresAt } = session;
  await sql`
    insert into dashboard_session (hash, api_key_id, person_id, project_id, user_id, created_at, expires_at)
    select ${hashSecret(token)}, ${keyId}::uuid, ${personId}::uuid,
      coalesce((select k.project_id from api_key k where k.id = ${keyId}::uuid), ${firstProject}), a.id,
      ${now}::bigint, ${expiresAt}::bigint
    from account a where a.id = ${userId}`.execute(db);
}

export async function deleteDashboardSession(db: Db | Trx, token: string): Promise<void> {
  await db.deleteFrom("dashboard_session").where("hash", "=", hashSecret(token)).execute();
}

export async function deleteExpiredDashboardSessions(db: Db, now: number): Promise<void> {
  await db.deleteFrom("dashboard_session").where("expires_at", "<=", String(now)).execute();
}

/** The caller's account, as the API shows it. */
export async function readAccount(db: Db, { userId }: Owner): Promise<Account> {
  const { id, name, created_at } = await db
    .selectFrom("account")
    .select(["id", "name", "created_at"])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
  return { id, kind: "user", name, createdAt: Number(created_at) };
}

/**
 * Ensure that an account, a project and, if preset, this API key exist. `newKey` is called for an account without a preset key. Returns the
 * created key; null if one existed or was preset.
 */
export async function ensureAccount(
  db: Db,
  options: { presetKey: string | undefined; newKey: () => string; now: number },
): Promise<string | null> {
  const { presetKey, newKey, now } = options;
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${FIRST_ACCOUNT_LOCK})`.execute(trx);
    const project = await trx
      .selectFrom("project")
      .select(["id", "user_id"])
      .where("deleted_at", "is", null)
      .orderBy("created_at")
      .executeTakeFirst();
    if (project && presetKey === undefined) return null;
    const owner = project ? { projectId: project.id, userId: project.user_id } : await insertFirstProject(trx, now);
    const made = presetKey ?? newKey();
    await trx
      .insertInto("api_key")
      .values({
        id: newId(),
        project_id: owner.projectId,
        user_id: owner.userId,
        name: presetKey === undefined ? "first key" : "preset key",
        prefix: keyPrefix(made),
        hash: hashSecret(made),
        account_wide: true,
        created_at: now,
      })
      // A key created through the API with rules or origins keeps them.
      .onConflict((conflict) =>
        conflict.column("hash").doUpdateSet({ account_wide: true }).where("api_key.access", "is", null),
      )
      .execute();
    return presetKey === undefined ? made : null;
  });
}

async function insertFirstProject(trx: Trx, now: number): Promise<Owner> {
  const owner = { userId: newId(), projectId: newId() };
  await trx.insertInto("account").values({ id: owner.userId, name: "first account", created_at: now }).execute();
  await trx
    .insertInto("project")
    .values({ id: owner.projectId, user_id: owner.userId, name: "default", created_at: now })
    .execute();
  return owner;
}
