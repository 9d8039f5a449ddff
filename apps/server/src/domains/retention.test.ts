import { expect, test, vi } from "vitest";
import { startTestDomains } from "./domain-test-kit.ts";

test("rows whose time is over are deleted by a job, and others stay", async () => {
  await using kit = await startTestDomains();
  const { db, clock, domains } = kit;
  const { id: apiKeyId, project_id, user_id } = await db.selectFrom("api_key").selectAll().executeTakeFirstOrThrow();
  const signIn = (hash: string, expiresAt: number) => ({
    hash: Buffer.from(hash),
    api_key_id: apiKeyId,
    project_id,
    user_id,
    created_at: 0,
    expires_at: expiresAt,
  });
  const signIns = [signIn("over", clock.now()), signIn("good", clock.now() + 1)];
  await db.insertInto("dashboard_session").values(signIns).execute();
  domains.jobs.start(kit.processors);
  const left = async () =>
    (await db.selectFrom("dashboard_session").select("hash").execute()).map(({ hash }) => `${hash}`);
  await vi.waitFor(async () => expect(await left()).toEqual(["good"]), { timeout: 20_000, interval: 50 });
});
