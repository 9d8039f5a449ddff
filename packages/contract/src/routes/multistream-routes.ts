import { Type } from "typebox";
import { ListQuery } from "../list.ts";
import { MultistreamTarget, MultistreamTargetPatch, NewMultistreamTarget } from "../multistream.ts";
import { none, ok, type Route } from "../route.ts";

/** Multistream targets. */
export const multistreamRoutes = {
  createTarget: {
    method: "POST",
    path: "/api/multistream/target",
    summary: "Create a multistream target",
    auth: "key",
    body: NewMultistreamTarget,
    success: { status: 201, body: MultistreamTarget },
    failures: [422],
  },
  listTargets: {
    method: "GET",
    path: "/api/multistream/target",
    summary: "List multistream targets",
    auth: "key",
    query: Type.Object({ ...ListQuery.properties, userId: Type.Optional(Type.String()) }),
    success: ok(Type.Array(MultistreamTarget)),
    failures: [400],
  },
  getTarget: {
    method: "GET",
    path: "/api/multistream/target/:id",
    summary: "Get a multistream target",
    auth: "key",
    success: ok(MultistreamTarget),
    failures: [404],
  },
  patchTarget: {
    method: "PATCH",
    path: "/api/multistream/target/:id",
    summary: "Change a multistream target",
    auth: "key",
    body: MultistreamTargetPatch,
    success: none,
    failures: [404, 422],
  },
  deleteTarget: {
    method: "DELETE",
    path: "/api/multistream/target/:id",
    summary: "Delete a multistream target; it is removed from all streams",
    auth: "key",
    success: none,
    failures: [404],
  },
} as const satisfies Record<string, Route>;
