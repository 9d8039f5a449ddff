import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, answerPage, isSet, parseListQuery } from "../api/index.ts";
import { AssetService, type AssetServiceDeps } from "./asset-service.ts";
import { assetFields, taskFields } from "./asset-store.ts";

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
    return answerPage(reply, page, { origin, url });
  });
  api.on(routes.getAsset, async ({ principal, id, origin }) =>
    assets.get(principal, id, { publicUrl: origin, details: true }),
  );
  api.on(routes.patchAsset, async ({ principal, id, body, origin }) =>
    assets.patch(principal, id, body, { publicUrl: origin, details: true }),
  );
  api.on(routes.deleteAsset, async ({ principal, id }) => assets.delete(principal, id));
  api.on(routes.restoreAsset, async ({ principal, id }) => assets.restore(principal, id));
  api.on(routes.retryAsset, async ({ principal, id }) => ({ task: { id: await assets.retry(principal, id) } }));

  api.on(routes.listTasks, async ({ principal, query, origin, url }, reply) => {
    const page = await assets.listTasks(principal, parseListQuery(query, taskFields, "createdAt-true"));
    return answerPage(reply, page, { origin, url });
  });
  api.on(routes.getTask, async ({ principal, id }) => assets.getTask(principal, id));
  api.on(routes.retryTask, async ({ principal, id }) => assets.retryTask(principal, id));
}
