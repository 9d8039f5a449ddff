import { recordCall, requestSamples } from "@weir/client/samples";
import { EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import type { DescribedRoute } from "../api/index.ts";
import { fence } from "./docs-page.ts";
import { clientCallOf } from "./operation-calls.ts";

/** The example request of an operation in curl, TypeScript and Python, as Markdown. */
export function sampleFences({ name, route, description }: DescribedRoute): string {
  const { params = {}, query, body } = description.example;
  const path = route.path.replaceAll(/:(\w+)/g, (_, parameter: string) => params[parameter] ?? "");
  const call = clientCallOf(name, description);
  const { sh, ts, python } = requestSamples(
    {
      method: route.method,
      url: `${EXAMPLE_ORIGIN}${path}${query ? `?${new URLSearchParams(query)}` : ""}`,
      needsKey: route.auth !== "none",
      body: body ?? description.looseBody?.example,
      hasAnswer: route.success.body !== null,
    },
    call && recordCall(call, EXAMPLE_ORIGIN),
  );
  return [fence("sh", sh), fence("ts", ts), fence("python", python)].join("\n\n");
}
