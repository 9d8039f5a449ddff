import type { accountRoutes } from "../routes/account-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import { ids, times } from "./example-objects.ts";

const project = {
  id: ids.project,
  userId: ids.account,
  name: "Live events",
  originalsForKeysOnly: false,
  createdAt: times.created,
};

export const accountDescriptions: DescriptionsOf<typeof accountRoutes> = {
  getAccount: {
    description:
      "Returns the account that the API key belongs to. Use it to check whether a key is valid before you store it.",
    example: { answer: { id: ids.account, kind: "user", name: "Example Media", createdAt: times.created } },
    errors: [],
  },
  listProjects: {
    description:
      "Returns the projects that the caller can see. An API key belongs to one project and sees that one; someone signed in to the dashboard can see all projects of the account.",
    example: { answer: [project] },
    errors: [],
  },
  getProject: {
    description:
      "Returns one project. Streams, assets, webhooks and API keys each belong to exactly one project, and no key reaches another one.",
    example: { params: { id: ids.project }, answer: project },
    errors: ["not-found"],
  },
};
