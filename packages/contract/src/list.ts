import { type Static, Type } from "typebox";

/**
 * Query of every list. The `Link` header (`rel="next"`) has the next page's URL; with `count=true`, `X-Total-Count` has the total number of
 * matches. Unknown parameters are ignored.
 */
export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ description: "Default 20, maximum 1000" })),
  cursor: Type.Optional(Type.String({ description: "Opaque, from the `Link` header" })),
  order: Type.Optional(
    Type.String({ description: "`field-true` for descending, `field-false` for ascending; comma-separated" }),
  ),
  filters: Type.Optional(
    Type.String({ description: 'JSON: `[{"id": field, "value": v}]`, v a value or `{"gt"|"gte"|"lt"|"lte": n}`' }),
  ),
  count: Type.Optional(Type.Boolean()),
});
export type ListQuery = Static<typeof ListQuery>;

/** One element of `filters`. */
export interface ListFilter {
  readonly id: string;
  readonly value: unknown;
}
