import { Type } from "typebox";
import { Asset, AssetPatch, NewAsset, NewAssetFromUrl, RequestedImport, RequestedUpload } from "../asset.ts";
import { NewExport } from "../export.ts";
import { ListQuery } from "../list.ts";
import { flag, none, ok, type Route } from "../route.ts";
import { Task } from "../task.ts";
import { NewTranscode } from "../transcode.ts";

const assetList = Type.Object({
  ...ListQuery.properties,
  playbackId: Type.Optional(Type.String()),
  sourceUrl: Type.Optional(Type.String()),
  phase: Type.Optional(Type.String({ description: "`deleting`: deleted assets that can be restored" })),
  details: flag("`1`: with the tracks of each file"),
});

const importing = {
  method: "POST",
  summary:
    "Create an asset from a file that the server fetches; 200 with the same one where it is being fetched already",
  auth: "key",
  body: NewAssetFromUrl,
  success: { status: 201, body: RequestedImport },
  failures: [400, 422, 501],
} as const;

/** Uploaded and imported files, and the tasks that process them. */
export const assetRoutes = {
  requestUpload: {
    method: "POST",
    path: "/api/asset/request-upload",
    summary: "Create an asset and get the upload URLs for its file",
    auth: "key",
    body: NewAsset,
    success: ok(RequestedUpload),
    failures: [400, 422, 429, 501],
  },
  importAsset: { ...importing, path: "/api/asset/upload/url" },
  importAssetOlder: { ...importing, path: "/api/asset/import" },
  listAssets: {
    method: "GET",
    path: "/api/asset",
    summary: "List assets",
    auth: "key",
    query: assetList,
    success: ok(Type.Array(Asset)),
    failures: [400],
  },
  getAsset: {
    method: "GET",
    path: "/api/asset/:id",
    summary: "Get an asset",
    auth: "key",
    success: ok(Asset),
    failures: [404],
  },
  patchAsset: {
    method: "PATCH",
    path: "/api/asset/:id",
    summary: "Change an asset",
    auth: "key",
    body: AssetPatch,
    success: ok(Asset),
    failures: [400, 404, 422, 501],
  },
  deleteAsset: {
    method: "DELETE",
    path: "/api/asset/:id",
    summary: "Delete an asset: it stops playing at once, and can be restored until its bytes are removed",
    auth: "key",
    success: none,
    failures: [400, 404],
  },
  restoreAsset: {
    method: "POST",
    path: "/api/asset/:id/restore",
    summary: "Restore a deleted asset",
    auth: "key",
    success: none,
    failures: [400, 404],
  },
  retryAsset: {
    method: "POST",
    path: "/api/asset/:id/retry",
    summary: "Retry processing of a failed asset",
    auth: "key",
    success: ok(Type.Object({ task: Type.Object({ id: Type.String() }) })),
    failures: [404, 422],
  },
  exportAsset: {
    method: "POST",
    path: "/api/asset/:id/export",
    summary: "Send the file of an asset to an address of yours; the task reports progress",
    auth: "key",
    body: NewExport,
    success: { status: 201, body: Type.Object({ task: Task }) },
    failures: [400, 404, 412, 422, 429, 501],
  },
  transcode: {
    method: "POST",
    path: "/api/transcode",
    summary: "Transcode a file from one store to another; the task reports progress",
    auth: "key",
    body: NewTranscode,
    success: ok(Task),
    failures: [400, 422, 429],
  },
  listTasks: {
    method: "GET",
    path: "/api/task",
    summary: "List tasks",
    auth: "key",
    query: ListQuery,
    success: ok(Type.Array(Task)),
    failures: [400],
  },
  getTask: {
    method: "GET",
    path: "/api/task/:id",
    summary: "Get a task",
    auth: "key",
    success: ok(Task),
    failures: [404],
  },
  retryTask: {
    method: "POST",
    path: "/api/task/:id/retry",
    summary: "Retry a failed or cancelled task",
    auth: "key",
    success: ok(Task),
    failures: [404, 422],
  },
} as const satisfies Record<string, Route>;
