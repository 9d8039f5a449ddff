import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Deps } from "../deps.ts";
import type { Db } from "../schema.ts";
import { ApiError, BadRequest } from "./api-error.ts";
import type { Principal } from "./principal.ts";

/** The header by which a client says that two requests are one; draft-ietf-httpapi-idempotency-key-header. */
export const IDEMPOTENCY_HEADER = "idempotency-key";

const KEPT_MS = 86_400_000;
/** The newest answers that are kept for an API key. */
const MAX_PER_KEY = 10_000;
/** A first request that has no answer after this was in a process that died: the next one does it. Longer than a request may take. */
const ABANDONED_MS = 60_000;
const KEY = /^[!-~]{1,255}$/;

/** The same key for another request. */
class IdempotencyKeyReused extends ApiError {
  constructor() {
    super(422, "idempotency-key-reused", "this Idempotency-Key was used for another request: take a new one");
  }
}

/** The first request of this key is still being answered. The client asks again a second later. */
export class RequestInProgress extends ApiError {
  constructor() {
    super(409, "in-progress", "a request with this Idempotency-Key is being answered: ask again");
  }
}

/** The first answer had a secret in it, which was not kept. */
class AnswerNotKept extends ApiError {
  constructor() {
    super(409, "answer-not-kept", "this request was answered already, and its answer shows a secret only once");
  }
}

export interface Answer {
  readonly status: number;
  /** Undefined for an answer without a body. */
  readonly body: unknown;
}

export interface IdempotentRequest {
  readonly principal: Principal;
  /** As the client sent it. */
  readonly key: string;
  /** The identity of a request: method, address and body. */
  readonly content: readonly unknown[];
  /** The answer holds a secret that is stored nowhere. */
  readonly showsSecret: boolean;
}

interface Row {
  fingerprint: Buffer;
  status: number | null;
  body: string | null;
}

/**
 * Do `run` once for a key: a caller who comes again within 24 h gets the first answer. A request that failed had no effect, is forgotten, and may
 * be tried again. Throws `BadRequest`, 422 for the same key with another request, `RequestInProgress`.
 */
export async function answerOnce(
  { db, clock, log }: Deps,
  request: IdempotentRequest,
  run: () => Promise<Answer>,
): Promise<Answer & { readonly isReplayed: boolean }> {
  if (!KEY.test(request.key)) throw new BadRequest("an Idempotency-Key is 1 to 255 visible ASCII characters");
  const fingerprint = createHash("sha256").update(JSON.stringify(request.content, withoutPasswords)).digest();
  const now = clock.now();
  if (!(await begin(db, request, fingerprint, now))) {
    return { ...(await firstAnswer(db, request, fingerprint)), isReplayed: true };
  }
  let answer: Answer;
  try {
    answer = await run();
  } catch (error) {
    await settle(() => forget(db, request, now));
    throw error;
  }
  await settle(() => keep(db, request, now, answer));
  return { ...answer, isReplayed: false };

  /** A request that was done is answered in any case; without its row the next request is told to wait, then does it again. */
  async function settle(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      log.warn({ err: error }, "could not store the response to a request with an Idempotency-Key");
    }
  }
}

/** A plain hash is too quick for what a person can remember. */
const withoutPasswords = (name: string, value: unknown) => (/password/i.test(name) ? undefined : value);

/** Forget what is older than 24 h, and of each API key what is beyond its newest 10,000. */
export async function forgetOldAnswers(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom("idempotent_request")
    .where("created_at", "<", String(now - KEPT_MS))
    .execute();
  await sql`
    delete from idempotent_request r using (
      select api_key_id, key, row_number() over (partition by api_key_id order by created_at desc) as place from idempotent_request
    ) o where o.place > ${MAX_PER_KEY} and r.api_key_id = o.api_key_id and r.key = o.key`.execute(db);
}

/** Take the key. False when it is taken, by a request whose answer is kept or still comes. */
async function begin(
  db: Db,
  { principal, key }: IdempotentRequest,
  fingerprint: Buffer,
  now: number,
): Promise<boolean> {
  const { rows } = await sql`
    insert into idempotent_request as r (api_key_id, project_id, user_id, key, fingerprint, created_at)
    values (${principal.keyId}, ${principal.projectId}, ${principal.userId}, ${key}, ${fingerprint}, ${now}::bigint)
    on conflict (api_key_id, key) do update
      set fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = null, body = null
      where r.created_at < ${now - KEPT_MS}::bigint
        or (r.status is null and r.fingerprint = excluded.fingerprint and r.created_at < ${now - ABANDONED_MS}::bigint)
    returning 1`.execute(db);
  return rows.length > 0;
}

async function firstAnswer(db: Db, request: IdempotentRequest, fingerprint: Buffer): Promise<Answer> {
  const { rows } = await sql<Row>`
    select fingerprint, status, body from idempotent_request
    where api_key_id = ${request.principal.keyId} and key = ${request.key}`.execute(db);
  const [row] = rows;
  if (row && !row.fingerprint.equals(fingerprint)) throw new IdempotencyKeyReused();
  if (!row || row.status === null) throw new RequestInProgress();
  if (request.showsSecret) throw new AnswerNotKept();
  return { status: row.status, body: row.body === null ? undefined : JSON.parse(row.body) };
}

/** `begunAt` keeps an attempt that was given up from touching the one that took over. */
async function keep(db: Db, { principal, key, showsSecret }: IdempotentRequest, begunAt: number, answer: Answer) {
  const body = showsSecret || answer.body === undefined ? null : JSON.stringify(answer.body);
  await sql`update idempotent_request set status = ${answer.status}, body = ${body}
    where api_key_id = ${principal.keyId} and key = ${key} and created_at = ${begunAt}::bigint`.execute(db);
}

async function forget(db: Db, { principal, key }: IdempotentRequest, begunAt: number) {
  await sql`delete from idempotent_request
    where api_key_id = ${principal.keyId} and key = ${key} and created_at = ${begunAt}::bigint`.execute(db);
}
