import { type Static, Type } from "typebox";

/**
 * Query of every list. The next page's address is in the `Link` header (`rel="next"`), the number of all matches in `X-Total-Count` when
 * `count=true`. Unknown parameters are ignored.
 */
export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ description: "20 if unset, 1000 at most" })),
  cursor: Type.Optional(Type.String({ description: "Opaque, from the `Link` header" })),
  order: Type.Optional(
    Type.String({ description: "`field-true` for falling, `field-false` for rising; comma-separated" }),
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
