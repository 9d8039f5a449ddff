import { ERROR_CODES, type ErrorCode } from "@weir/contract";
import { expect, expectTypeOf, it } from "vitest";
import type { HttpErrorCode } from "../platform/http/app-errors.ts";
import { UPLOAD_ERROR_CODES } from "../platform/uploads/upload-refused.ts";

it("the codes of the HTTP edge and of uploads are codes of the API", () => {
  expectTypeOf<HttpErrorCode>().toExtend<ErrorCode>();
  for (const [status, code] of Object.entries(UPLOAD_ERROR_CODES))
    expect(ERROR_CODES[code as ErrorCode].statuses).toContain(Number(status));
});

it.each(Object.entries(ERROR_CODES))("%s says what happened and what to do, in sentences", (_code, kind) => {
  for (const text of [kind.meaning, kind.remedy]) expect(text).toMatch(/^[A-Z`t].*\.$/s);
  for (const status of kind.statuses) expect(status).toBeGreaterThanOrEqual(400);
});
