import type { MultistreamTarget } from "@weir/contract";
import type { TargetRow } from "../schema.ts";

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
