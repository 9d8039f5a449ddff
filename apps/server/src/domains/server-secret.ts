import { randomBytes } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "./schema.ts";

const BYTES = 32;

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
