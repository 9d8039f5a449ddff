import { Type } from "typebox";
import { Asset } from "../asset.ts";
import { CreatedClip, NewClip } from "../clip.ts";
import { ok, type Route } from "../route.ts";

/** Clips of streams, recordings and assets. */
export const clipRoutes = {
  createClip: {
    method: "POST",
    path: "/api/clip",
    summary: "Cut a clip out of a stream, a recording or an asset",
    auth: "key",
    body: NewClip,
    success: ok(CreatedClip),
    failures: [400, 403, 404, 422],
  },
  listClips: {
    method: "GET",
    path: "/api/clip/:id",
    summary: "List the clips of a stream, session or asset, by its id or playback id",
    auth: "key",
    success: ok(Type.Array(Asset)),
    failures: [404],
  },
  listAssetClips: {
    method: "GET",
    path: "/api/asset/:id/clips",
    summary: "List the clips of an asset",
    auth: "key",
    success: ok(Type.Array(Asset)),
    failures: [404],
  },
} as const satisfies Record<string, Route>;
