import type {
  MultistreamTarget,
  MultistreamTargetPatch,
  NewMultistreamTarget,
  NewTargetRef,
  TargetRef,
} from "@weir/contract";
import { FORWARD, type Outbound } from "../../platform/outbound/outbound.ts";
import type { MediaControl } from "../../ports/index.ts";
import { BadRequest, type ListRequest, NotFound, type Page, RefusedUrl } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { isId, newId } from "../ids.ts";
import type { Db, Owner, Trx } from "../schema.ts";
import { NoTargetHost } from "./target-errors.ts";
import { targetRecord } from "./target-record.ts";
import {
  activeStreamsNaming,
  deleteTarget,
  findTarget,
  insertTarget,
  listTargets,
  updateTarget,
} from "./target-store.ts";
import { tellTargetsChanged } from "./tell-targets-changed.ts";

export interface TargetDeps extends Deps {
  readonly outbound: Pick<Outbound, "refusalOf">;
}

export interface TargetServiceDeps extends TargetDeps {
  readonly mediaControl: MediaControl;
}

/** The rules of multistream targets. What changes is told to the sessions that are forwarded to them. */
export class TargetService {
  readonly #deps: TargetServiceDeps;

  constructor(deps: TargetServiceDeps) {
    this.#deps = deps;
  }

  create(owner: Owner, input: NewMultistreamTarget): Promise<MultistreamTarget> {
    return createTarget(this.#deps, this.#deps.db, owner, input);
  }

  async get(owner: Owner, id: string): Promise<MultistreamTarget> {
    const row = await findTarget(this.#deps.db, owner, id);
    if (!row) throw new NotFound();
    return targetRecord(row);
  }

  /** `userId` asks for the targets that one account made. */
  async list(owner: Owner, list: ListRequest, userId: string | undefined): Promise<Page<MultistreamTarget>> {
    const page = await listTargets(this.#deps.db, owner, list, userId);
    return { ...page, items: page.items.map(targetRecord) };
  }

  async patch(owner: Owner, id: string, patch: MultistreamTargetPatch): Promise<void> {
    if (patch.url !== undefined) checkedHost(this.#deps, patch.url);
    const isThere =
      Object.keys(patch).length === 0
        ? (await findTarget(this.#deps.db, owner, id)) !== undefined
        : isId(id) && (await updateTarget(this.#deps.db, owner, id, patch));
    if (!isThere) throw new NotFound();
    await tellTargetsChanged(this.#deps, await activeStreamsNaming(this.#deps.db, owner, id));
  }

  async delete(owner: Owner, id: string): Promise<void> {
    if (!isId(id)) throw new NotFound();
    const concerned = await this.#deps.db.transaction().execute(async (trx) => {
      const streamIds = await activeStreamsNaming(trx, owner, id);
      return (await deleteTarget(trx, owner, id)) ? streamIds : null;
    });
    if (!concerned) throw new NotFound();
    await tellTargetsChanged(this.#deps, concerned);
  }
}

/** Make targets of the `spec`s and check the `id`s. What a stream keeps is references. */
export async function resolveTargets(
  deps: Omit<TargetDeps, "db">,
  trx: Trx,
  owner: Owner,
  targets: readonly NewTargetRef[],
): Promise<TargetRef[]> {
  const refs: TargetRef[] = [];
  for (const { profile, videoOnly, slate, id, spec } of targets) {
    const flags = {
      profile,
      ...(videoOnly === undefined ? {} : { videoOnly }),
      ...(slate === undefined ? {} : { slate }),
    };
    if (spec) refs.push({ ...flags, id: (await createTarget(deps, trx, owner, spec)).id });
    else if (id !== undefined && (await findTarget(trx, owner, id))) refs.push({ ...flags, id });
    else throw new BadRequest(`multistream target not found: "${id}"`);
  }
  return refs;
}

async function createTarget(
  deps: Omit<TargetDeps, "db">,
  db: Db | Trx,
  { projectId, userId }: Owner,
  { url, name, disabled }: NewMultistreamTarget,
): Promise<MultistreamTarget> {
  const host = checkedHost(deps, url);
  const row = { id: newId(), project_id: projectId, user_id: userId, url, created_at: deps.clock.now() };
  return targetRecord(await insertTarget(db, { ...row, name: name ?? host, disabled: disabled ?? false }));
}

/** Host and port of an address. Throws where there is none, and where nothing may be sent to it. */
function checkedHost({ outbound }: Pick<TargetDeps, "outbound">, url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : "";
  if (host === "") throw new NoTargetHost();
  const refusal = outbound.refusalOf(url, FORWARD);
  if (refusal !== null) throw new RefusedUrl("streams cannot be forwarded to this url", refusal);
  return host;
}
