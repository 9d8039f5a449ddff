import type { multistreamRoutes } from "../routes/multistream-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import { ids, target } from "./example-objects.ts";

export const multistreamDescriptions: DescriptionsOf<typeof multistreamRoutes> = {
  createTarget: {
    description:
      "Stores the address of another platform to forward streams to, over SRT, RTMP or RTMPS. The address often contains a stream key, so no response ever shows it. Streams name the target in `multistream.targets`.",
    example: { body: { url: "rtmps://live.example.net/app/secret-key", name: "live.example.net" }, answer: target },
    errors: ["bad-request", "private-address", "bad-url"],
  },
  listTargets: {
    description:
      "Returns the project's multistream targets without their addresses. `userId` selects those that one account created.",
    example: { answer: [target] },
    errors: ["bad-request"],
  },
  getTarget: {
    description:
      "Returns the record of one multistream target without its address. The state of its connection is in the stream that uses it.",
    example: { params: { id: ids.target }, answer: target },
    errors: ["not-found"],
  },
  patchTarget: {
    description:
      "Changes the name or address of a target, or disables it. The change takes effect at once for every live stream that uses the target. Responds with 204 without a body: clients of the public API expect that.",
    example: { params: { id: ids.target }, body: { disabled: true } },
    errors: ["bad-request", "private-address", "bad-url", "not-found"],
  },
  deleteTarget: {
    description:
      "Deletes a target and removes it from every stream. Forwarding of live streams to it stops at once; the streams stay live.",
    example: { params: { id: ids.target } },
    errors: ["not-found"],
  },
};
