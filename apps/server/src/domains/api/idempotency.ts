import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Deps } from "../deps.ts";
import type { Db } from "../schema.ts";
import { ApiError, BadRequest } from "./api-error.ts";
import type { Principal } from "./principal.ts";

/** The header with which a client marks two requests as the same (draft-ietf-httpapi-idempotency-key-header). */
export const IDEMPOTENCY_HEADER = "idempotency-key";

const KEPT_MS = 86_400_000;
/** Newest responses kept per API key. */
const MAX_PER_KEY = 10_000;
/**
 * A first request without a response after this time belonged to a process that died; the next one runs it again. Longer than any request may
 * take.
 */
const ABANDONED_MS = 60_000;
const KEY = /^[!-~]{1,255}$/;

/** The first request with this key is still running. The client should retry after a second. */
export class RequestInProgress extends ApiError {
  constructor() {
    super(409, "in-progress", "a request with this Idempotency-Key is being answered: ask again");
  }
}

export interface Answer {
  readonly status: number;
  /** Undefined for a response without a body. */
  readonly body: unknown;
}

export interface IdempotentRequest {
  readonly principal: Principal;
  /** The request as the client sent it. */
  readonly key: string;
  /** The identity of a request: method, URL and body. */
  readonly content: readonly unknown[];
  /** The response contains a secret that is stored nowhere. */
  readonly showsSecret: boolean;
}

interface Row {
  fingerprint: Buffer;
  status: number | null;
  body: string | null;
}

/**
 * Run `run` once per key: a caller who retries within 24 h gets the first response. A failed request has no effect, is not stored, and can be
 * retried. Throws `BadRequest`, 422 for the same key with another request, or `RequestInProgress`.
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

  /** A completed request is answered in any case. If its row is lost, the next request is told to wait and then runs again. */
  async function settle(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      log.warn({ err: error }, "could not store the response to a request with an Idempotency-Key");
    }
  }
}

/** A plain hash would be too fast for a secret that people can remember. */
const withoutPasswords = (name: string, value: unknown) => (/password/i.test(name) ? undefined : value);

/** Delete responses older than 24 h, and those beyond an API key's newest 10,000. */
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

/** Claim the key. False if another request has claimed it, with or without a response so far. */
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
  if (row && !row.fingerprint.equals(fingerprint)) {
    const why = "this Idempotency-Key was used for another request: take a new one";
    throw new ApiError(422, "idempotency-key-reused", why);
  }
  if (!row || row.status === null) throw new RequestInProgress();
  if (request.showsSecret) {
    const why = "this request was answered already, and its answer shows a secret only once";
    throw new ApiError(409, "answer-not-kept", why);
  }
  return { status: row.status, body: row.body === null ? undefined : JSON.parse(row.body) };
}

/** `begunAt` keeps an abandoned attempt from changing the row of its successor. */
async function keep(db: Db, { principal, key, showsSecret }: IdempotentRequest, begunAt: number, answer: Answer) {
  const body = showsSecret || answer.body === undefined ? null : JSON.stringify(answer.body);
  await sql`update idempotent_request set status = ${answer.status}, body = ${body}
    where api_key_id = ${principal.keyId} and key = ${key} and created_at = ${begunAt}::bigint`.execute(db);
}

async function forget(db: Db, { principal, key }: IdempotentRequest, begunAt: number) {
  await sql`delete from idempotent_request
    where api_key_id = ${principal.keyId} and key = ${key} and created_at = ${begunAt}::bigint`.execute(db);
}
