import type { Asset } from "@weir/contract";
import { seesSecretsOf } from "../accounts/index.ts";
import { Forbidden, type Principal } from "../api/index.ts";
import type { Db } from "../schema.ts";

/**
 * A browser key is part of a web page, so everyone who opens the page has it: it exports only what any viewer may download. Throws `Forbidden`
 * for gated assets, and where the project keeps originals from viewers.
 */
export async function refuseForPages(db: Db, { access, projectId }: Principal, asset: Asset): Promise<void> {
  if (seesSecretsOf(access, "asset", asset.id)) return;
  const { type = "public" } = asset.playbackPolicy ?? {};
  const project = await db
    .selectFrom("project")
    .select("originals_for_keys_only")
    .where("id", "=", projectId)
    .executeTakeFirst();
  if (type !== "public" || project?.originals_for_keys_only !== false)
    throw new Forbidden(
      "a key of a web page exports only what every viewer may download: use a key of your own server",
    );
}
