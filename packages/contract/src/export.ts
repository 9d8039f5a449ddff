import { type Static, Type } from "typebox";
import { exact, expects } from "./exact.ts";

const MAX_HEADERS = 50;

/** Body of `POST /api/asset/{id}/export`. */
export const NewExport = exact({
  custom: Type.Optional(
    exact({
      url: Type.String({
        ...{ minLength: 1, maxLength: 2048, pattern: "^https?://" },
        ...expects("an address that begins with http:// or https://"),
        description: "URL to which the server sends the file. Redirects are not followed",
      }),
      method: Type.Optional(Type.String({ maxLength: 16, description: "`PUT` (default) or `POST`" })),
      headers: Type.Optional(
        Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
          maxProperties: MAX_HEADERS,
          description: "Further headers of the request. Their values are never shown again",
        }),
      ),
    }),
  ),
  ipfs: Type.Optional(Type.Unknown({ description: "Refused with 501" })),
});
export type NewExport = Static<typeof NewExport>;
