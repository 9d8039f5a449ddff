import { type Asset, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { seesSecretsOf } from "../accounts/index.ts";
import { ApiRoutes, isSet, listOf, type Principal } from "../api/index.ts";
import type { AssetRow } from "../schema.ts";
import { assetRecord, withoutSecrets } from "./asset-record.ts";
import { AssetService, type AssetServiceDeps } from "./asset-service.ts";
import { assetFields, assetsOf } from "./asset-store.ts";

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
  const list = listOf(deps.db, "asset", {
    fields: assetFields,
    order: "updatedAt-true,createdAt-true",
    only: ({ query }) => assetsOf(query),
    shown: (row: AssetRow, { principal, query, origin }) =>
      shown(principal, assetRecord(row, { publicUrl: origin, details: isSet(query.details) && query.details !== "0" })),
  });
  api.on(routes.listAssets, list);
  api.on(routes.getAsset, async ({ principal, id, origin }) =>
    shown(principal, await assets.get(principal, id, { publicUrl: origin, details: true })),
  );
  api.on(routes.patchAsset, async ({ principal, id, body, origin }) =>
    shown(principal, await assets.patch(principal, id, body, { publicUrl: origin, details: true })),
  );
  api.on(routes.deleteAsset, async ({ principal, id }) => assets.delete(principal, id));
  api.on(routes.restoreAsset, async ({ principal, id }) => assets.restore(principal, id));
  api.on(routes.retryAsset, async ({ principal, id }) => ({ task: { id: await assets.retry(principal, id) } }));
}

/** The asset as this caller may see it. */
const shown = ({ access }: Principal, asset: Asset): Asset =>
  seesSecretsOf(access, "asset", asset.id) ? asset : withoutSecrets(asset);
