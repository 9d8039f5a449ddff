import type { Refusal } from "../front/admission.ts";
import type { MediaRequest } from "./media-request.ts";
import { errorText, PERSONAL, sendNotFound, sendText, sendTooMany } from "./media-response.ts";

/** The phrase that public players recognize as "not allowed". */
export const DENIED = "Shutting down since this session is not allowed to view this stream";
const DENIED_TEXT = errorText("playback-denied", DENIED);
const INVALID_CREDENTIAL = errorText(
  "bad-request",
  "the token or access key contains invalid characters: use printable UTF-8",
);

/** Unknown, deleted and gated content get the same response, so that nobody can find out which ids exist. */
export function sendRefusal({ res, isQuestion }: MediaRequest, refusal: Refusal): void {
  // An edge treats any status other than 401 and 403 as an error.
  if (refusal === "gone" && !isQuestion) return sendNotFound(res);
  if (refusal === "invalid-credential")
    return sendText(res, 400, "application/json", INVALID_CREDENTIAL, PERSONAL.error);
  if (refusal === "too-many") return sendTooMany(res);
  sendText(res, 401, "application/json", DENIED_TEXT, PERSONAL.error);
}
