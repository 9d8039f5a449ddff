import type { Overview, Stream } from "@weir/contract";
import { afterAll, expect, test } from "vitest";
import { addProject, startTestDomains } from "../domain-test-kit.ts";

const HEADROOM = { disk: { freeBytes: 5, totalBytes: 9 }, transcoding: { usedCores: 0.5, totalCores: 3 } };

const kit = await startTestDomains({ headroom: () => HEADROOM });
afterAll(() => kit[Symbol.asyncDispose]());

const overview = async (key = kit.apiKey) =>
  (await kit.call("GET", "/api/dashboard/overview", undefined, { authorization: `Bearer ${key}` })).json<Overview>();

test("counts the streams and webhooks of the project alone, and shows what the machine has left", async () => {
  const hook = { name: "hook", url: "https://example.com/", events: ["stream.started"] };
  for (const change of [{}, { failures: 3 }, { failures: 100, paused_at: 1 }]) {
    const { id } = (await kit.call("POST", "/api/webhook", hook)).json<{ id: string }>();
    await kit.db
      .updateTable("webhook")
      .set({ failures: 0, ...change })
      .where("id", "=", id)
      .execute();
  }
  const harmless = JSON.stringify({ open: [{ isHarmful: false }], wellSegments: 0 });
  const harmful = JSON.stringify({ open: [{ isHarmful: true }], wellSegments: 0 });
  const rows = [
    { state: "idle", issues: null },
    { state: "idle", issues: harmful },
    { state: "live", issues: null },
    { state: "live", issues: harmless },
    { state: "live", issues: harmful },
    { state: "reconnecting", issues: null },
  ] as const;
  for (const row of rows) {
    const { id } = (await kit.call("POST", "/api/stream", { name: "stage" })).json<Stream>();
    await kit.db
      .updateTable("stream")
      .set({ ...row, outgoing_rate: 30 })
      .where("id", "=", id)
      .execute();
  }
  const deleted = (await kit.call("POST", "/api/stream", { name: "gone" })).json<Stream>();
  await kit.call("DELETE", `/api/stream/${deleted.id}`);

  expect(await overview()).toEqual({
    streams: { total: 6, live: 4, unhealthy: 2, outgoingRate: 120 },
    webhooks: { total: 3, failing: 1, paused: 1 },
    ...HEADROOM,
  });
  const { apiKey } = await addProject(kit.db, "overview");
  expect(await overview(apiKey)).toEqual({
    streams: { total: 0, live: 0, unhealthy: 0, outgoingRate: 0 },
    webhooks: { total: 0, failing: 0, paused: 0 },
    ...HEADROOM,
  });
});
