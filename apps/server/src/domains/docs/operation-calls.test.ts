import { recordCall } from "@weir/client/samples";
import { EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import { expect, it } from "vitest";
import { describedRoutes } from "../api/index.ts";
import { clientCallOf } from "./operation-calls.ts";

/** Those of which the client has another: an older address, or a part of another operation. */
const WITHOUT_METHOD = [
  "getStreamInfo",
  "importAssetOlder",
  "listAssetClips",
  "listChildSessions",
  "listSessionClips",
  "listStreamClips",
  "listStreamsOfUser",
  "listSubscribedWebhooks",
  "getViewsOfCreator",
  "logPlayback",
  "patchStreamRecord",
  "patchStreamSuspended",
];

it("the client's call for every operation sends the request of its example", () => {
  const without: string[] = [];
  for (const { name, route, description } of describedRoutes) {
    const { params = {}, body } = description.example;
    const call = clientCallOf(name, description);
    if (call === null) {
      without.push(name);
      continue;
    }
    const sent = recordCall(call, EXAMPLE_ORIGIN);
    const path = route.path.replaceAll(/:(\w+)/g, (_, parameter: string) => params[parameter] ?? "");
    expect([name, sent.method, new URL(sent.url).pathname]).toEqual([name, route.method, path]);
    expect([name, sent.body]).toEqual([name, body]);
  }
  expect(without.sort()).toEqual(WITHOUT_METHOD.sort());
});
