import { expect, test } from "vitest";
import { type ClientCall, recordCall } from "./recorded-call.ts";
import { requestSamples } from "./request-samples.ts";

const ORIGIN = "https://video.example.com";

function samplesOf(call: ClientCall) {
  const recorded = recordCall(call, ORIGIN);
  return requestSamples({ ...recorded, needsKey: true, hasAnswer: true }, recorded);
}

test("a call of the client is shown as the request that it sends, with a variable in place of the key", () => {
  const { sh, ts, python } = samplesOf((weir) => weir.streams.create({ name: "it's on", record: true, profiles: [] }));
  expect(sh).toBe(`curl -X POST "${ORIGIN}/api/stream" \\
  -H "Authorization: Bearer $WEIR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"name":"it'\\''s on","record":true,"profiles":[]}'`);
  expect(ts).toBe(`import { WeirClient } from "@weir/client";

const weir = new WeirClient({ baseUrl: "${ORIGIN}", apiKey: process.env.WEIR_KEY });
const answer = await weir.streams.create({ name: "it's on", record: true, profiles: [] });`);
  expect(python).toContain('json={"name": "it\'s on", "record": True, "profiles": []},');
  expect(python).toContain("os.environ['WEIR_KEY']");
});

test("a long body has a field on each line, and fields that are not set are left out", () => {
  const name = "n".repeat(60);
  const { ts, python } = samplesOf((weir) =>
    weir.webhooks.patch("w1", { name, url: "https://app.example.com", streamId: undefined } as never),
  );
  expect(ts).toContain(`await weir.webhooks.patch("w1", {\n  name: "${name}",\n  url: "https://app.example.com",\n});`);
  expect(python).toContain(`json={\n      "name": "${name}",\n      "url": "https://app.example.com",\n    },`);
});

test("a feed is shown as a loop", () => {
  const { ts } = samplesOf((weir) => weir.streams.events("s1", { from: 1 }));
  expect(ts).toContain('for await (const answer of weir.streams.events("s1", { from: 1 })) console.log(answer);');
});

test("a call that sends nothing is refused", () => {
  expect(() => recordCall(() => null, ORIGIN)).toThrow("sent no request");
});
