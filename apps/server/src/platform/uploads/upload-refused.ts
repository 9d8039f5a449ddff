import type { IncomingMessage, ServerResponse } from "node:http";
import { errorBody } from "../http/error-body.ts";
import { requestIdOf } from "../http/request-id.ts";

/** Codes of the API's errors. In uploads, the status alone says which. */
export const UPLOAD_ERROR_CODES: Readonly<Record<number, string>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  405: "method-not-allowed",
  409: "offset-mismatch",
  413: "body-too-large",
  415: "unsupported-encoding",
  422: "upload-conflict",
  423: "upload-locked",
  429: "too-many-requests",
  460: "checksum-mismatch",
  500: "internal",
  507: "upload-no-room",
};

/** A deliberate error response to an upload. The message is for the uploader. */
export class UploadRefused extends Error {
  readonly status: number;
  /** The same, as the protocol library reads it. */
  readonly status_code: number;
  /** The methods that the address takes instead (405). */
  readonly allow: string | null;
  constructor(status: number, message: string, { allow = null }: { readonly allow?: string | null } = {}) {
    super(message);
    this.status = status;
    this.status_code = status;
    this.allow = allow;
  }
}

/** The same form as every error of the API. */
export function uploadErrorBody(requestId: string, { status, message }: { status: number; message: string }): string {
  return JSON.stringify(errorBody({ code: UPLOAD_ERROR_CODES[status] ?? "bad-request", message, requestId }));
}

export function sendUploadRefusal(request: IncomingMessage, response: ServerResponse, refused: UploadRefused): void {
  response.setHeader("content-type", "application/json");
  if (refused.allow !== null) response.setHeader("allow", refused.allow);
  response.writeHead(refused.status).end(uploadErrorBody(requestIdOf(request), refused));
}
