import { describe, expect, it } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { startTestDomains, viewerOf } from "../domain-test-kit.ts";
import { ViewCounter } from "./view-counter.ts";
import { ViewerLimit, type ViewerLimitDeps } from "./viewer-limit.ts";

const nobody = {} as ViewerLimitDeps["db"];

describe("viewers of one access key", () => {
  const clock = new ManualClock();
  const limitOf = (viewersPerCredential: number) =>
    new ViewerLimit({ db: nobody, clock, log: silentLog, viewerLimit: 0, viewersPerCredential });
  const at = (address: string) => ({ ...viewerOf("p").viewer, address });

  it("are let in up to the limit, and who watches is let in again", () => {
    const limit = limitOf(2);
    expect([limit.admits("key", "p", at("1")), limit.admits("key", "p", at("2"))]).toEqual([true, true]);
    expect([limit.admits("key", "p", at("3")), limit.admits("key", "p", at("2"))]).toEqual([false, true]);
    expect(limit.admits("another key", "p", at("3"))).toBe(true);
  });

  it("leave when they were not seen for 30 s; who goes on stays", () => {
    const limit = limitOf(2);
    limit.admits("key", "p", at("1"));
    limit.admits("key", "p", at("2"));
    clock.advance(20_000);
    limit.goesOn("p", at("1"));
    clock.advance(10_000);
    expect([limit.admits("key", "p", at("3")), limit.admits("key", "p", at("4"))]).toEqual([true, false]);
  });

  it("are as many as like without a limit", () => {
    const limit = limitOf(0);
    for (let i = 0; i < 1_000; i++) expect(limit.admits("key", "p", at(String(i)))).toBe(true);
  });
});

it("an account is full while its viewers on all nodes are as many as it may have", async () => {
  await using kit = await startTestDomains();
  const { id, projectId } = (await kit.call("POST", "/api/stream", { name: "a" })).json();
  const { playbackId } = (await kit.call("GET", `/api/stream/${id}`)).json();
  const counter = new ViewCounter({ ...kit, log: silentLog, node: kit.domains.node });
  const limit = new ViewerLimit({ ...kit, log: silentLog, viewerLimit: 3, viewersPerCredential: 0 });
  const unlimited = new ViewerLimit({ ...kit, log: silentLog, viewerLimit: 0, viewersPerCredential: 0 });
  const isFullWith = async (now: number) => {
    counter.countViewers([{ playbackId, now, begun: 0, watchedMs: 0, newViewers: [] }]);
    await counter.flush();
    kit.clock.advance(2_000);
    return [await limit.isFull(projectId), await unlimited.isFull(projectId), await limit.isFull("another")];
  };
  expect(await isFullWith(2)).toEqual([false, false, false]);
  expect(await isFullWith(3)).toEqual([true, false, false]);
  expect(await isFullWith(0)).toEqual([false, false, false]);
});

it("the gate says so of an account that is full, and still answers who watches", async () => {
  await using kit = await startTestDomains({ viewerLimit: 1 });
  const { playbackId } = (await kit.call("POST", "/api/stream", { name: "a" })).json();
  const open = () => kit.domains.playbackGate.open(viewerOf(playbackId));
  expect(await open()).toMatchObject({ ok: true, isFull: false });
  kit.domains.eventSink.countViewers([{ playbackId, now: 1, begun: 1, watchedMs: 0, newViewers: [] }]);
  kit.clock.advance(2_000);
  const isFull = async () => {
    kit.clock.advance(2_000);
    const decision = await open();
    return decision.ok && decision.isFull;
  };
  await expect.poll(isFull).toBe(true);
});
