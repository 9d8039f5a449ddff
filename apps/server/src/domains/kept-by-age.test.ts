import type { Stream } from "@weir/contract";
import { expect, it, onTestFinished } from "vitest";
import { type AssetExpiryDeps, expireAssets } from "./assets/index.ts";
import { startTestDomains } from "./domain-test-kit.ts";
import { EventLog } from "./events/index.ts";
import { expireRecordings } from "./sessions/index.ts";

const DAY_MS = 86_400_000;

async function started() {
  const kit = await startTestDomains();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const told: string[] = [];
  const events = new EventLog(async (_trx, placed) => {
    for (const { event } of placed) told.push("event" in event.body ? event.body.event : event.body.type);
  });
  const accessChanged = async (playbackId: string) => void kit.asked.accessChanges.push(playbackId);
  const deps = { ...kit, events, mediaControl: { accessChanged } };
  return { kit, told, deps };
}

type Kit = Awaited<ReturnType<typeof started>>["kit"];

/** A recording whose session ended so many days ago. */
async function recordingOf(kit: Kit, age: number, fields: object): Promise<string> {
  const stream = (await kit.call("POST", "/api/stream", { name: "s", record: true, ...fields })).json<Stream>();
  const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "127.0.0.1" } as const;
  const decision = await kit.domains.publishGate.authorize(request);
  const session = decision.ok ? await kit.domains.publishGate.begin(decision.grant, kit.clock.now()) : null;
  const id = session?.sessionId ?? "";
  await kit.db
    .updateTable("session")
    .set({ recording: "ready", ended_at: kit.clock.now() - age * DAY_MS })
    .where("id", "=", id)
    .execute();
  return id;
}

it("recordings go when they are older than their stream keeps them, or else the server", async () => {
  const { kit, told, deps } = await started();
  const [old, young] = [await recordingOf(kit, 8, {}), await recordingOf(kit, 6, {})];
  const [kept, brief] = [
    await recordingOf(kit, 8, { retentionDays: 30 }),
    await recordingOf(kit, 2, { retentionDays: 1 }),
  ];
  const states = async () =>
    Promise.all(
      [old, young, kept, brief].map(
        async (id) => (await kit.call("GET", `/api/session/${id}`)).json().recordingStatus as string,
      ),
    );
  await expireRecordings({ ...deps, recordingDays: 0 });
  expect(await states()).toEqual(["ready", "ready", "ready", "deleted"]);
  await expireRecordings({ ...deps, recordingDays: 7 });
  expect(await states()).toEqual(["deleted", "ready", "ready", "deleted"]);
  expect(told).toEqual(["recording.deleted", "recording.deleted"]);
  expect(kit.asked.accessChanges).toHaveLength(2);
});

it("assets go when they are older than they say, or else the server, and their bytes an hour later", async () => {
  const { kit, told, deps } = await started();
  const make = async (name: string, age: number, fields: object) => {
    const { asset } = (await kit.call("POST", "/api/asset/request-upload", { name, ...fields })).json();
    const created = { phase: "ready", created_at: kit.clock.now() - age * DAY_MS } as const;
    await kit.db.updateTable("asset").set(created).where("id", "=", asset.id).execute();
  };
  await make("old", 8, {});
  await make("young", 6, {});
  await make("kept", 8, { retentionDays: 30 });
  await make("brief", 2, { retentionDays: 1 });
  const expire = (assetDays: number) => expireAssets({ ...deps, assetDays } satisfies AssetExpiryDeps);
  const names = async () => {
    const list = (await kit.call("GET", "/api/asset?order=name-false")).json<{ name: string }[]>();
    return list.map(({ name }) => name).sort();
  };
  await expire(0);
  expect(await names()).toEqual(["kept", "old", "young"]);
  await expire(7);
  expect(await names()).toEqual(["kept", "young"]);
  expect(told).toEqual(["asset.updated", "asset.deleted", "asset.updated", "asset.deleted"]);
  await kit.domains.housekeeping.tick();
  expect(kit.asked.removedPrefixes).toEqual([]);
  await kit.clock.advance(3_600_000);
  await kit.domains.housekeeping.tick();
  expect(kit.asked.removedPrefixes).toHaveLength(2);
});

it("how long things are kept is read, changed, and left to the server again", async () => {
  const { kit } = await started();
  const stream = (await kit.call("POST", "/api/stream", { name: "s", retentionDays: 5 })).json<Stream>();
  expect(stream.retentionDays).toBe(5);
  expect((await kit.call("PATCH", `/api/stream/${stream.id}`, { retentionDays: null })).statusCode).toBe(204);
  expect((await kit.call("GET", `/api/stream/${stream.id}`)).json()).not.toHaveProperty("retentionDays");
  expect((await kit.call("POST", "/api/stream", { name: "s", retentionDays: 0 })).statusCode).toBe(422);
});
