import type { MultistreamTarget, NewMultistreamTarget, NewTargetRef, TargetRef } from "@weir/contract";
import { FORWARD, type Outbound } from "../../platform/outbound/outbound.ts";
import { ApiError, BadRequest, RefusedUrl } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { newId } from "../ids.ts";
import { findOwned } from "../owned-row.ts";
import type { Db, Owner, TargetRow, Trx } from "../schema.ts";

export interface TargetDeps extends Deps {
  readonly outbound: Pick<Outbound, "refusalOf">;
}

/** Make targets of the `spec`s and check the `id`s. What a stream keeps is references. */
export async function resolveTargets(
  deps: Omit<TargetDeps, "db">,
  trx: Trx,
  owner: Owner,
  targets: readonly NewTargetRef[],
): Promise<TargetRef[]> {
  const refs: TargetRef[] = [];
  for (const { profile, videoOnly, slate, id, spec } of targets) {
    const flags = {
      profile,
      ...(videoOnly === undefined ? {} : { videoOnly }),
      ...(slate === undefined ? {} : { slate }),
    };
    if (spec) refs.push({ ...flags, id: (await createTarget(deps, trx, owner, spec)).id });
    else if (id !== undefined && (await findOwned(trx, "multistream_target", owner, id))) refs.push({ ...flags, id });
    else throw new BadRequest(`multistream target not found: "${id}"`);
  }
  return refs;
}

export async function createTarget(
  deps: Omit<TargetDeps, "db">,
  db: Db | Trx,
  { projectId, userId }: Owner,
  { url, name, disabled }: NewMultistreamTarget,
): Promise<MultistreamTarget> {
  const host = checkedHost(deps, url);
  const row = { id: newId(), project_id: projectId, user_id: userId, url, created_at: deps.clock.now() };
  const values = { ...row, name: name ?? host, disabled: disabled ?? false };
  return targetRecord(
    await db.insertInto("multistream_target").values(values).returningAll().executeTakeFirstOrThrow(),
  );
}

/** Host and port of an address. Throws where there is none, and where nothing may be sent to it. */
export function checkedHost({ outbound }: Pick<TargetDeps, "outbound">, url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : "";
  if (host === "")
    throw new ApiError(
      422,
      "bad-url",
      "Bad URL of a multistream target: expected srt://, rtmp:// or rtmps:// with a host",
    );
  const refusal = outbound.refusalOf(url, FORWARD);
  if (refusal !== null) throw new RefusedUrl("streams cannot be forwarded to this url", refusal);
  return host;
}

/** A target's row as its owner sees it. The address stays here. */
export function targetRecord(row: TargetRow): MultistreamTarget {
  return {
    id: row.id,
    name: row.name,
    userId: row.user_id,
    projectId: row.project_id,
    disabled: row.disabled,
    createdAt: Number(row.created_at),
  };
}
