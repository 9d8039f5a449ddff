import { Type } from "typebox";
import { AccessTrial, AccessTrialResult, NewOwnerToken, OwnerToken } from "../access-control.ts";
import { ListQuery } from "../list.ts";
import { none, ok, type Route } from "../route.ts";
import { CreatedSigningKey, NewSigningKey, SigningKey, SigningKeyPatch } from "../signing-key.ts";

/** Playback access: the keys that sign tokens, and a trial of a viewer's credentials. */
export const accessControlRoutes = {
  createSigningKey: {
    method: "POST",
    path: "/api/access-control/signing-key",
    summary: "Create a signing key; its private key is in this answer alone",
    auth: "key",
    body: NewSigningKey,
    success: ok(CreatedSigningKey),
    failures: [404, 422],
  },
  listSigningKeys: {
    method: "GET",
    path: "/api/access-control/signing-key",
    summary: "List signing keys",
    auth: "key",
    query: ListQuery,
    success: ok(Type.Array(SigningKey)),
    failures: [400],
  },
  getSigningKey: {
    method: "GET",
    path: "/api/access-control/signing-key/:id",
    summary: "Get a signing key's record",
    auth: "key",
    success: ok(SigningKey),
    failures: [404],
  },
  patchSigningKey: {
    method: "PATCH",
    path: "/api/access-control/signing-key/:id",
    summary: "Rename, disable or enable a signing key",
    auth: "key",
    body: SigningKeyPatch,
    success: none,
    failures: [404, 422],
  },
  deleteSigningKey: {
    method: "DELETE",
    path: "/api/access-control/signing-key/:id",
    summary: "Delete a signing key; what it signed opens nothing any more",
    auth: "key",
    success: none,
    failures: [404],
  },
  tryAccess: {
    method: "POST",
    path: "/api/access-control/try",
    summary: "Try a token or access key on a playback id of your own, and read why it would be refused",
    auth: "key",
    body: AccessTrial,
    success: ok(AccessTrialResult),
    failures: [404, 422],
  },
  createOwnerToken: {
    method: "POST",
    path: "/api/access-control/owner-token",
    summary: "Create a token that lets the owner watch a stream or recording for an hour",
    auth: "key",
    body: NewOwnerToken,
    success: ok(OwnerToken),
    failures: [404, 422],
  },
} as const satisfies Record<string, Route>;
