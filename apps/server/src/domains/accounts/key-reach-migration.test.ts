import { sql } from "kysely";
import { expect, it } from "vitest";
import { newId } from "../ids.ts";
import { openOlderDatabase } from "../older-schema-test-kit.ts";

it("of the keys of an older Weir the first one alone rules the account, and keys with rules or origins are signed out", async () => {
  await using older = await openOlderDatabase(9);
  const { db } = older;
  const [userId, projectId] = [newId(), newId()];
  await sql`insert into account (id, name, created_at) values (${userId}, 'first', 1000)`.execute(db);
  await sql`insert into project (id, user_id, name, created_at) values (${projectId}, ${userId}, 'default', 1000)`.execute(
    db,
  );
  const keys = [
    ["the first", 1000, null],
    ["made later", 2000, null],
    ["with nothing in its access", 2000, {}],
    ["with rules", 2000, { rules: [] }],
    ["with origins", 2000, { cors: { allowedOrigins: ["*"], fullAccess: true } }],
    ["with no origin", 2000, { cors: { allowedOrigins: [] } }],
  ] as const;
  for (const [name, createdAt, access] of keys) {
    const id = newId();
    await sql`insert into api_key (id, project_id, user_id, name, prefix, hash, access, created_at)
      values (${id}, ${projectId}, ${userId}, ${name}, '', ${Buffer.from(name)}, ${access && JSON.stringify(access)}::jsonb, ${createdAt})`.execute(
      db,
    );
    await sql`insert into dashboard_session (hash, api_key_id, project_id, user_id, created_at, expires_at)
      values (${Buffer.from(name)}, ${id}, ${projectId}, ${userId}, 1, 2)`.execute(db);
  }

  await older.migrate();

  const { rows } = await sql<{ name: string; account_wide: boolean; signed_in: boolean }>`
    select name, account_wide, exists (select from dashboard_session d where d.api_key_id = k.id) as signed_in
    from api_key k`.execute(db);
  expect(rows.filter((row) => row.account_wide).map(({ name }) => name)).toEqual(["the first"]);
  expect(
    rows
      .filter((row) => row.signed_in)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["made later", "the first", "with no origin", "with nothing in its access"]);
});
