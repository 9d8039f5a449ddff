import { type Static, type TProperties, Type } from "typebox";

/** An object schema that rejects unknown properties, used for every request body. */
export function exact<Properties extends TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, { additionalProperties: false, ...(description ? { description } : {}) });
}

/** For a `pattern`: the texts that it allows, in words that complete "url must be". Errors say it in place of the regular expression. */
export const expects = (words: string) => ({ "x-expects": words });

/** Milliseconds since the Unix epoch. */
export const Milliseconds = Type.Integer({ description: "Milliseconds since the Unix epoch" });

/** The UUID of a record, lower-case. */
export const Id = Type.String({ description: "UUID, lower-case" });
export type Id = Static<typeof Id>;
