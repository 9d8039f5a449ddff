import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

const Name = Type.String({ minLength: 1, maxLength: 500 });

/** Body of `POST /api/project`. */
export const NewProject = exact({ name: Name });
export type NewProject = Static<typeof NewProject>;

/** Body of `PATCH /api/project/{id}`. */
export const ProjectPatch = exact({
  name: Type.Optional(Name),
  originalsForKeysOnly: Type.Optional(Type.Boolean()),
});
export type ProjectPatch = Static<typeof ProjectPatch>;

/** The owner of streams, sessions and API keys. */
export const Project = Type.Object({
  id: Id,
  userId: Id,
  name: Type.String(),
  originalsForKeysOnly: Type.Boolean({
    description: "Whether the uploaded files of assets are given only to holders of an owner token, and not to viewers",
  }),
  createdAt: Milliseconds,
});
export type Project = Static<typeof Project>;
