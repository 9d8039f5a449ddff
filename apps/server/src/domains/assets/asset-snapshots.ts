import type { Asset, Task } from "@weir/contract";
import { isId } from "../ids.ts";
import type { Db } from "../schema.ts";
import { assetRecord, taskRecord } from "./asset-record.ts";
import { withoutSecrets, withoutTaskSecrets } from "./signed-address.ts";

/** An asset as webhooks tell of it, without secrets, also where it is deleted; null where there is none any more. */
export async function readAsset(db: Db, id: string, publicUrl: string): Promise<Asset | null> {
  const row = isId(id) && (await db.selectFrom("asset").selectAll().where("id", "=", id).executeTakeFirst());
  return row ? withoutSecrets(assetRecord(row, { publicUrl, details: true })) : null;
}

export async function readTask(db: Db, id: string): Promise<Task | null> {
  const row = isId(id) && (await db.selectFrom("task").selectAll().where("id", "=", id).executeTakeFirst());
  return row ? withoutTaskSecrets(taskRecord(row)) : null;
}
