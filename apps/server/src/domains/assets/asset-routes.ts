import { type Asset, routes, type Task } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { seesSecretsOf } from "../accounts/index.ts";
import { ApiRoutes, answerPage, isSet, type Principal, parseListQuery } from "../api/index.ts";
import { AssetService, type AssetServiceDeps } from "./asset-service.ts";
import { assetFields, taskFields } from "./asset-store.ts";
import { withoutSecrets, withoutTaskSecrets } from "./signed-address.ts";

const LATEST_FIRST = "updatedAt-true,createdAt-true";

export function assetRoutes(app: FastifyInstance, deps: AssetServiceDeps): void {
  const api = new ApiRoutes(app, deps);
  const assets = new AssetService(deps);

  api.on(routes.requestUpload, async ({ principal, body, origin }) => assets.requestUpload(principal, body, origin));
  for (const route of [routes.importAsset, routes.importAssetOlder])
    api.on(route, async ({ principal, body, origin }, reply) => {
      const { isNew, ...requested } = await assets.import(principal, body, origin);
      if (!isNew) reply.code(200);
      return requested;
    });
  api.on(routes.listAssets, async ({ principal, query, origin, url }, reply) => {
    const view = { publicUrl: origin, details: isSet(query.details) && query.details !== "0" };
    const page = await assets.list(principal, parseListQuery(query, assetFields, LATEST_FIRST), query, view);
    const items = page.items.map((asset) => shown(principal, asset));
    return answerPage(reply, { ...page, items }, { origin, url });
  });
  api.on(routes.getAsset, async ({ principal, id, origin }) =>
    shown(principal, await assets.get(principal, id, { publicUrl: origin, details: true })),
  );
  api.on(routes.patchAsset, async ({ principal, id, body, origin }) =>
    shown(principal, await assets.patch(principal, id, body, { publicUrl: origin, details: true })),
  );
  api.on(routes.deleteAsset, async ({ principal, id }) => assets.delete(principal, id));
  api.on(routes.restoreAsset, async ({ principal, id }) => assets.restore(principal, id));
  api.on(routes.retryAsset, async ({ principal, id }) => ({ task: { id: await assets.retry(principal, id) } }));

  api.on(routes.listTasks, async ({ principal, query, origin, url }, reply) => {
    const page = await assets.listTasks(principal, parseListQuery(query, taskFields, "createdAt-true"));
    const items = page.items.map((task) => shownTask(principal, task));
    return answerPage(reply, { ...page, items }, { origin, url });
  });
  api.on(routes.getTask, async ({ principal, id }) => shownTask(principal, await assets.getTask(principal, id)));
  api.on(routes.retryTask, async ({ principal, id }) => shownTask(principal, await assets.retryTask(principal, id)));
}

/** The asset as this caller may see it. */
const shown = ({ access }: Principal, asset: Asset): Asset =>
  seesSecretsOf(access, "asset", asset.id) ? asset : withoutSecrets(asset);

const shownTask = ({ access }: Principal, task: Task): Task =>
  seesSecretsOf(access, "asset", task.outputAssetId ?? "") ? task : withoutTaskSecrets(task);
