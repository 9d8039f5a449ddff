import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

const Verb = Type.Enum(["get", "post", "put", "patch", "delete", "*"]);

/** The calls that an API key may make: everything without rules, nothing with an empty list, otherwise the calls that one of the rules allows. */
export const AccessRule = exact({
  resources: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    minItems: 1,
    maxItems: 100,
    description: "Paths below /api, such as `stream/:id`; `:name` matches one part, `*` at the end matches the rest",
  }),
  methods: Type.Array(Verb, { minItems: 1, maxItems: 6 }),
});
export type AccessRule = Static<typeof AccessRule>;

/** The rights of an API key, and the origins of web pages that may use it. */
export const Access = exact({
  rules: Type.Optional(Type.Array(AccessRule, { maxItems: 100 })),
  cors: Type.Optional(
    exact({
      allowedOrigins: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
        maxItems: 100,
        description: 'Such as `https://app.example.com`; `"*"` for any page',
      }),
      fullAccess: Type.Optional(
        Type.Boolean({
          description:
            "Without it, a key with origins may only make calls that are safe for a key published in a web page",
        }),
      ),
    }),
  ),
});
export type Access = Static<typeof Access>;

/** Body of `POST /api/api-token`. */
export const NewApiToken = exact({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: '"API key" if unset' })),
  access: Type.Optional(Access),
});
export type NewApiToken = Static<typeof NewApiToken>;

/** An API key's record; the key itself is not stored. */
export const ApiToken = Type.Object({
  id: Id,
  kind: Type.Literal("api-token"),
  userId: Id,
  projectId: Id,
  name: Type.String(),
  keyPrefix: Type.String({ description: "First characters of the API key, to tell keys apart; empty for a short key" }),
  access: Type.Optional(Access),
  accountWide: Type.Optional(
    Type.Boolean({
      description: "Signs in to all projects of the account: the key of the first start or of WEIR_API_KEY",
    }),
  ),
  createdAt: Milliseconds,
  lastSeen: Type.Optional(Type.Integer({ description: "Time of the last use, accurate to a minute" })),
});
export type ApiToken = Static<typeof ApiToken>;

/** The response to `POST /api/api-token`, the only one that contains the key. */
export const CreatedApiToken = Type.Object({ ...ApiToken.properties, key: Type.String({ description: "Shown once" }) });
export type CreatedApiToken = Static<typeof CreatedApiToken>;
