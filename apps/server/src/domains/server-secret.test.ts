import { expect, test } from "vitest";
import { startTestDomains } from "./domain-test-kit.ts";

test("nodes that ask for the viewers' secret at the same moment, and later, get the same 32 bytes", async () => {
  await using kit = await startTestDomains();
  const other = kit.another("two");
  const [one, two] = await Promise.all([kit.domains.viewerSecret(), other.viewerSecret()]);
  expect(one.byteLength).toBe(32);
  expect(two).toEqual(one);
  expect(await kit.domains.viewerSecret()).toEqual(one);
  await other.close();
});
