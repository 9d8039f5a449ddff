import { expect, it, onTestFinished } from "vitest";
import { startTestDomains } from "./domain-test-kit.ts";
import { newId } from "./ids.ts";
import { sweepOrphans } from "./orphan-sweep.ts";

const DAY_MS = 86_400_000;

it("files without a row go a day after they were first seen, others and those of unknown projects stay", async () => {
  const kit = await startTestDomains();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const { asset } = (await kit.call("POST", "/api/asset/request-upload", { name: "clip" })).json();
  const [orphan, late] = [newId(), newId()];
  const own = `v1/${asset.projectId}`;
  const folders = new Map([
    [`${own}/asset/`, [asset.id, orphan, late, "not-an-id"]],
    [`${own}/rec/`, [orphan]],
    [`v1/${newId()}/asset/`, [newId()]],
  ]);
  const removed: string[] = [];
  let now = 1_000;
  const sweep = () =>
    sweepOrphans({
      ...kit,
      clock: { ...kit.clock, now: () => now } as typeof kit.clock,
      store: {
        children: async (prefix) => folders.get(prefix) ?? [],
        deletePrefix: async (prefix) => void removed.push(prefix),
      },
    });
  await sweep();
  expect(removed).toEqual([]);
  now += DAY_MS - 1;
  // Its row came after all, from a database that was restored.
  await kit.db.updateTable("asset").set({ id: late }).where("id", "=", asset.id).execute();
  folders.set(`${own}/asset/`, [late, orphan, "not-an-id"]);
  await sweep();
  expect(removed).toEqual([]);
  now += 1;
  await sweep();
  expect(removed).toEqual([`${own}/asset/${orphan}/`, `${own}/rec/${orphan}/`]);
  await sweep();
  expect(removed).toHaveLength(2);
});
