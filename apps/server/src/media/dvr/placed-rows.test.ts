import { expect, test } from "vitest";
import { PlacedRows } from "./placed-rows.ts";

test("of a session that is live for 25 days the end is kept, in order, and each number once", () => {
  const rows = new PlacedRows();
  const common = { seconds: 2, discontinuity: false, isIndependent: true, init: "init-00000001.mp4" };
  const place = { epoch: 1, span: "1-0000000001.m4s", offset: 0, length: 7 };
  const all = (25 * 86_400) / 2;
  for (let msn = 1; msn <= all; msn++)
    rows.add({ ...common, msn, startSeconds: msn * 2, programDateTimeMs: msn * 2_000, place });
  // What the spool has again, and a row that has no place.
  rows.add({ ...common, msn: all, startSeconds: all * 2, programDateTimeMs: all * 2_000, place });
  rows.add({ ...common, msn: all + 1, startSeconds: 0, programDateTimeMs: 0, init: null, place: null });
  let [first, last, count] = [0, 0, 0];
  let newest: unknown;
  for (const { msn, place } of rows.inOrder()) {
    first ||= msn;
    if (last !== 0 && msn !== last + 1) throw new Error(`${msn} behind ${last}`);
    [last, newest] = [msn, place];
    count++;
  }
  // As far back as the longest window of a stream.
  expect(first).toBeLessThan(all - (168 * 3_600) / 2);
  expect([last, count]).toEqual([all + 1, all + 2 - first]);
  expect(newest).toBe(null);
});
