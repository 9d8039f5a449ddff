import { type CreatedSigningKey, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import type { MediaControl } from "../../ports/index.ts";
import { ApiError, ApiRoutes, found, listOf, NotFound } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { deleteOwned, findOwned, updateOwned } from "../owned-row.ts";
import { newSigningKeyPair } from "./signing-key-pair.ts";
import {
  countSigningKeysForUpdate,
  insertSigningKey,
  signingKeyFields,
  signingKeyRecord,
} from "./signing-key-store.ts";

/** Creating a key is refused when the project has ten. */
const MANY_KEYS = 10;

export interface SigningKeyRouteDeps extends Deps {
  readonly mediaControl: MediaControl;
}

/** The keys that sign playback tokens. After a key is disabled or deleted in the database, the media floor is told. */
export function signingKeyRoutes(app: FastifyInstance, deps: SigningKeyRouteDeps): void {
  const { db, clock } = deps;
  const api = new ApiRoutes(app, deps);

  api.on(
    routes.createSigningKey,
    async ({ principal, body }): Promise<CreatedSigningKey> => {
      if (body.projectId !== undefined && body.projectId !== principal.projectId) throw new NotFound();
      const { publicKey, privateKey } = await newSigningKeyPair();
      const record = await db.transaction().execute(async (trx) => {
        const count = await countSigningKeysForUpdate(trx, principal);
        if (count > MANY_KEYS)
          throw new ApiError(
            403,
            "too-many-signing-keys",
            `the project has more than ${MANY_KEYS} signing keys: delete one first`,
          );
        const name = body.name ?? `Signing Key ${count + 1}`;
        return insertSigningKey(trx, principal, { name, publicKey, now: clock.now() });
      });
      return { ...record, privateKey };
    },
    { mayBeEmpty: true, showsSecret: true },
  );

  const list = { fields: signingKeyFields, order: "createdAt-true", shown: signingKeyRecord };
  api.on(routes.listSigningKeys, listOf(db, "signing_key", list));

  api.on(routes.getSigningKey, async ({ principal, id }) =>
    signingKeyRecord(found(await findOwned(db, "signing_key", principal, id))),
  );

  api.on(routes.patchSigningKey, async ({ principal, id, body }) => {
    if (!(await updateOwned(db, "signing_key", principal, id, body))) throw new NotFound();
    if (body.disabled !== undefined) await tellMedia(deps);
  });

  api.on(routes.deleteSigningKey, async ({ principal, id }) => {
    if (!(await deleteOwned(db, "signing_key", principal, id))) throw new NotFound();
    await tellMedia(deps);
  });
}

/** The key may have admitted viewers to anything, so every cached decision is taken again. */
async function tellMedia({ mediaControl, log }: SigningKeyRouteDeps): Promise<void> {
  try {
    await mediaControl.accessChanged("all");
  } catch (error) {
    // The database already says so: cached answers expire within seconds.
    log.error({ err: error }, "could not notify media nodes of a changed signing key");
  }
}
