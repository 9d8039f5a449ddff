/** One kind of error: what `code` in an error response means, and what its receiver can do. */
export interface ErrorKind {
  /** The statuses it is sent with. */
  readonly statuses: readonly number[];
  readonly meaning: string;
  readonly remedy: string;
}

const kind = (statuses: number | readonly number[], meaning: string, remedy: string): ErrorKind => ({
  statuses: typeof statuses === "number" ? [statuses] : statuses,
  meaning,
  remedy,
});

/** Every `code` that an error of the API may have. Codes are added, and never renamed. */
export const ERROR_CODES = {
  "answer-not-kept": kind(
    409,
    "A request with this Idempotency-Key was already answered with a secret that Weir does not store.",
    "Look the object up, or create another one with a new Idempotency-Key.",
  ),
  "asset-conflict": kind(
    422,
    "The asset is not in a state that allows this change.",
    "Get the asset and read its `status.phase`.",
  ),
  "bad-access": kind(422, "The access rules of an API key contradict each other.", "Correct the field that is named."),
  "bad-address": kind(
    [400, 414],
    "The request's address cannot be decoded, or a part of it is too long.",
    "Percent-encode each part of the path once, and keep it below 500 characters.",
  ),
  "bad-json": kind(
    400,
    "The body is not JSON, names a key twice, or is nested too deeply.",
    "Send valid JSON; the message says where the error is.",
  ),
  "bad-request": kind(
    400,
    "The request has the right form, but a value is invalid.",
    "Correct the value that the message names.",
  ),
  "bad-url": kind(
    422,
    "The address of a multistream target has no host.",
    "Give an address such as rtmp://host/app/key.",
  ),
  "body-too-large": kind(
    413,
    "The body is larger than Weir accepts: 1 MiB, for files the limit that the message names.",
    "Send less. Files go to the address that `POST /api/asset/request-upload` returns.",
  ),
  "checksum-mismatch": kind(
    460,
    "tus: the bytes that arrived do not match their checksum.",
    "Send them again; the offset has not moved.",
  ),
  "database-away": kind(
    503,
    "The database does not respond at the moment.",
    "Retry after `Retry-After`. A change may have taken effect: send an Idempotency-Key to repeat it safely.",
  ),
  "database-busy": kind(
    503,
    "Too many requests of this kind are waiting for the database.",
    "Retry after `Retry-After`.",
  ),
  "feed-full": kind(503, "Too many readers of event feeds are connected.", "Close some, or retry later."),
  forbidden: kind(
    403,
    "The caller is known and may not do this.",
    "Use a key whose rules and origins allow it, or sign in to the dashboard.",
  ),
  "idempotency-key-reused": kind(
    422,
    "This Idempotency-Key belongs to another request.",
    "Use a new Idempotency-Key for every new request.",
  ),
  "impossible-clip": kind(422, "There is nothing to cut between the given times.", "Choose times within the video."),
  "in-progress": kind(
    409,
    "The first request with this Idempotency-Key, or the first deletion of the object, is still running.",
    "Retry after `Retry-After`.",
  ),
  internal: kind(
    500,
    "Weir failed. This is a defect of the server, not of the request.",
    "Give the operator the `requestId`: the server's log has the cause under it.",
  ),
  "invalid-body": kind(
    422,
    "The body does not match the schema of the operation.",
    "`message` names the field. The API's description has the schema.",
  ),
  "key-in-use": kind(
    409,
    "You are signed in with the API key that you want to delete.",
    "Sign in with another one first.",
  ),
  "method-not-allowed": kind(
    405,
    "The address exists, but not with this method.",
    "Use one of the methods in the `Allow` header.",
  ),
  "missing-ids": kind(422, "A deletion of several objects names none.", 'Send `{"ids": […]}`.'),
  "missing-suspended": kind(422, "The field `suspended` is missing.", "Send `suspended: true` or `false`."),
  "missing-webhook": kind(
    400,
    "A playback policy of type `webhook` names no webhook.",
    "Give `webhookId`: the id of a webhook for the event `playback.accessControl`.",
  ),
  "not-found": kind(
    404,
    "There is no such object in the key's project. The response is the same for deleted objects and for objects of other projects.",
    "Check the id and the key's project.",
  ),
  "not-implemented": kind(
    501,
    "The public API has this operation or field; Weir does not.",
    "Leave it out; the message names the alternative if there is one.",
  ),
  "not-ready": kind(
    [412, 422],
    "The asset cannot be played yet (422), or not be exported yet (412).",
    "Wait until its `status.isPlayable` is true; for an export, until `status.phase` is `ready`.",
  ),
  "offset-mismatch": kind(
    409,
    "tus: the offset differs from the number of bytes that have arrived.",
    "Request the offset with `HEAD` and continue there.",
  ),
  "person-conflict": kind(409, "The people of an account cannot be changed like this.", "The message says why."),
  "playback-denied": kind(
    401,
    "The viewer may not watch this, or the playback id does not exist. The response is the same for both.",
    "Send a token or access key that the content's policy accepts. `POST /api/access-control/try` tells the owner the reason.",
  ),
  "private-address": kind(
    400,
    "Weir does not call addresses of private networks, such as localhost, for its users.",
    "Use a public address. On a test server the operator can set WEIR_ALLOW_PRIVATE_URLS=1.",
  ),
  "project-in-use": kind(409, "The project still has contents, or is the last one.", "Delete its contents first."),
  "session-live": kind(409, "The session is live.", "End its broadcast first."),
  "stream-suspended": kind(400, "The stream is suspended.", "Send `suspended: false` first."),
  "task-conflict": kind(
    422,
    "The task is not in a state that allows this.",
    "Get the task and read its `status.phase`.",
  ),
  "too-busy": kind(503, "Too many requests of this kind are running.", "Retry in a few seconds."),
  "too-many-clips": kind(403, "Too many clips of the project are being made.", "Wait until some are ready."),
  "too-many-requests": kind(429, "Too many requests.", "Slow down, and retry after `Retry-After`."),
  "too-many-signing-keys": kind(403, "The project has too many signing keys.", "Delete one first."),
  "too-many-streams": kind(
    400,
    "The project has reached its limit of streams.",
    "Delete one, or ask the operator to raise the limit.",
  ),
  "too-many-terminates": kind(429, "A stream can be terminated once in 5 s.", "Wait 5 seconds."),
  "too-many-test-broadcasts": kind(429, "Too many test broadcasts of the project are running.", "Wait for one to end."),
  "too-many-uploads": kind(429, "The project has too many unfinished uploads.", "Finish or delete some."),
  unauthenticated: kind(
    401,
    "The request has no credential, or one that is not valid here.",
    "Send `Authorization: Bearer` and an API key of this server.",
  ),
  unavailable: kind(503, "The content cannot be read at the moment.", "Retry in a few seconds."),
  "unknown-key": kind(
    401,
    "Weir does not know this API key: it was deleted, mistyped, or belongs to another server.",
    "Check the key, or create a new one in the dashboard under Keys.",
  ),
  "unknown-path": kind(
    404,
    "The API has no operation at this address.",
    "Check the path in the API description; `GET /api` has its address.",
  ),
  "unsupported-encoding": kind(
    415,
    "The body is compressed (`Content-Encoding`), which Weir does not accept.",
    "Send it without compression.",
  ),
  "unsupported-media-type": kind(
    415,
    "The body's `Content-Type` is missing, or is not `application/json`.",
    "Send JSON, with the header `Content-Type: application/json`.",
  ),
  "upload-conflict": kind(422, "The asset already has its file.", "Request a new upload."),
  "upload-locked": kind(
    423,
    "tus: another request is writing to this upload.",
    "Wait, then request the offset with `HEAD`.",
  ),
  "upload-no-room": kind(507, "The server's disk is almost full.", "Resume the upload later."),
} as const satisfies Readonly<Record<string, ErrorKind>>;

export type ErrorCode = keyof typeof ERROR_CODES;
