import { expect, test } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { startTestDomains } from "../domain-test-kit.ts";
import { streamSubject } from "../subject.ts";
import { CredentialWatch } from "./credential-watch.ts";
import { EventFeed } from "./event-feed.ts";
import { EventLog } from "./event-log.ts";

test("readers of one project or one client leave room for those of others", async () => {
  await using kit = await startTestDomains();
  const channels = { listen: async () => ({ close: async () => {} }) };
  const settings = { clock: new ManualClock(), log: silentLog, events: new EventLog(), channels };
  const feed = new EventFeed({ ...settings, db: kit.db, sseEventName: "event" });
  const subject = streamSubject("00000000-0000-4000-8000-000000000001");
  const hold = (projectId: string, client: string) => feed.hold(subject, { projectId, client });
  const held = await Promise.all(Array.from({ length: 2_000 }, () => hold("a", "client-1")));
  await expect(hold("b", "client-1")).rejects.toThrow("this address has too many readers");
  held.push(...(await Promise.all(Array.from({ length: 500 }, () => hold("a", "client-2")))));
  await expect(hold("a", "client-3")).rejects.toThrow("this project has too many readers");
  held.push(await hold("b", "client-2"));
  for (const { release } of held) release();
  for (let round = 0; round < 2; round++) (await hold("a", "client-1")).release();
  await feed.close();
});

test("a credential is looked up once for all of its readers, and all of them end with it", async () => {
  const clock = new ManualClock();
  const watch = new CredentialWatch(clock);
  let looked = 0;
  let isValid = true;
  const ended: string[] = [];
  const reader = (name: string) => ({
    isValid: async () => {
      looked++;
      return isValid;
    },
    close: () => void ended.push(name),
  });
  for (const name of ["a", "b", "c"]) watch.watch("key", reader(name));
  const unwatch = watch.watch("key", reader("gone"));
  clock.advance(5_000);
  await new Promise(setImmediate);
  expect([looked, ended]).toEqual([1, []]);
  unwatch();
  isValid = false;
  clock.advance(5_000);
  await new Promise(setImmediate);
  expect(ended).toEqual(["a", "b", "c"]);
  watch.close();
});
