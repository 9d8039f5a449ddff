import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { MediaControl } from "../../ports/index.ts";
import { ApiRoutes, found, listOf, NotFound, textOf } from "../api/index.ts";
import { isId } from "../ids.ts";
import { findOwned, updateOwned } from "../owned-row.ts";
import { checkedHost, createTarget, type TargetDeps, targetRecord } from "./new-targets.ts";
import { activeStreamsNaming, deleteTarget, targetFields } from "./target-store.ts";
import { tellTargetsChanged } from "./tell-targets-changed.ts";

export interface TargetRouteDeps extends TargetDeps {
  readonly mediaControl: MediaControl;
}

/** Multistream targets. What changes is told to the sessions that are forwarded to them. */
export function targetRoutes(app: FastifyInstance, deps: TargetRouteDeps): void {
  const { db } = deps;
  const api = new ApiRoutes(app, deps);

  api.on(routes.createTarget, async ({ principal, body }) => createTarget(deps, db, principal, body));
  api.on(routes.getTarget, async ({ principal, id }) =>
    targetRecord(found(await findOwned(db, "multistream_target", principal, id))),
  );
  api.on(routes.patchTarget, async ({ principal, id, body }) => {
    if (body.url !== undefined) checkedHost(deps, body.url);
    if (!(await updateOwned(db, "multistream_target", principal, id, body))) throw new NotFound();
    await tellTargetsChanged(deps, await activeStreamsNaming(db, principal, id));
  });
  api.on(routes.deleteTarget, async ({ principal, id }) => {
    if (!isId(id)) throw new NotFound();
    const concerned = await db.transaction().execute(async (trx) => {
      const streamIds = await activeStreamsNaming(trx, principal, id);
      return (await deleteTarget(trx, principal, id)) ? streamIds : null;
    });
    await tellTargetsChanged(deps, found(concerned));
  });
  const list = listOf(db, "multistream_target", {
    fields: targetFields,
    order: "createdAt-true",
    /** `userId` asks for the targets that one account made. */
    only({ query }) {
      const userId = textOf(query.userId);
      return userId === undefined ? sql`true` : sql`user_id::text = ${userId}`;
    },
    shown: targetRecord,
  });
  api.on(routes.listTargets, list);
}
