import { Type } from "typebox";
import { AccessTrial, AccessTrialResult, NewOwnerToken, OwnerToken } from "../access-control.ts";
import { ListQuery } from "../list.ts";
import { none, ok, type Route } from "../route.ts";
import { CreatedSigningKey, NewSigningKey, SigningKey, SigningKeyPatch } from "../signing-key.ts";

/** Access control: signing keys, and a test of a viewer's credentials. */
export const accessControlRoutes = {
  createSigningKey: {
    method: "POST",
    path: "/api/access-control/signing-key",
    summary: "Create a signing key; only this response contains the private key",
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
    summary: "Delete a signing key; its tokens are refused from then on",
    auth: "key",
    success: none,
    failures: [404],
  },
  tryAccess: {
    method: "POST",
    path: "/api/access-control/try",
    summary: "Test a token or access key on one of your playback ids, and get the reason for a refusal",
    auth: "key",
    body: AccessTrial,
    success: ok(AccessTrialResult),
    failures: [404, 422],
  },
  createOwnerToken: {
    method: "POST",
    path: "/api/access-control/owner-token",
    summary: "Create a token with which the owner can watch a stream or recording for an hour",
    auth: "key",
    body: NewOwnerToken,
    success: ok(OwnerToken),
    failures: [404, 422],
  },
} as const satisfies Record<string, Route>;
