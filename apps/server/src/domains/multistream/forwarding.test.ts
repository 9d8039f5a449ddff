import type { MultistreamTarget } from "@weir/contract";
import { beforeEach, expect, it } from "vitest";
import type { PublishGrant, SessionStart, TargetChanged } from "../../ports/index.ts";
import {
  ended,
  events,
  kit,
  measured,
  now,
  pass,
  publish,
  read,
  setUpLiveRig,
  stream,
  tell,
} from "../live-test-rig.ts";

setUpLiveRig();

const url = "rtmp://user:pass@ingest.example.com:1936/live/secret-key";
let id: string;
const name = "Elsewhere";
const target = () => ({ id, name, profile: "source" });
const path = () => `/api/multistream/target/${id}`;

beforeEach(async () => {
  const made: MultistreamTarget = (await kit.call("POST", "/api/multistream/target", { url, name })).json();
  id = made.id;
  await kit.call("PATCH", `/api/stream/${stream.id}`, {
    profiles: [],
    multistream: { targets: [{ profile: "source", id }] },
  });
  kit.asked.targetChanges.length = 0;
});

const changed = (
  { streamId, epoch }: PublishGrant,
  { sessionId }: SessionStart,
  change: Partial<TargetChanged>,
): TargetChanged => ({
  type: "target-changed",
  streamId,
  epoch,
  sessionId,
  at: now(),
  target: target(),
  state: "pending",
  reason: null,
  told: null,
  ...change,
});
const told = async () =>
  (await events()).flatMap((event) =>
    event.type === "webhook_event" && event.event.startsWith("multistream.") ? [[event.event, event.payload]] : [],
  );
const status = async () => (await read()).multistream.targets[0]?.status;

it("a session is told where it is forwarded to, without what is disabled", async () => {
  const { start, grant } = await publish();
  const forwarded = { ...target(), url, videoOnly: false, slate: false, givenUp: null };
  expect(start.targets).toEqual([forwarded]);
  expect(await kit.domains.publishGate.targets(grant.streamId)).toEqual([forwarded]);
  await kit.call("PATCH", path(), { disabled: true });
  expect(await kit.domains.publishGate.targets(grant.streamId)).toEqual([]);
});

it("sessions ask again when their targets change, and others do not", async () => {
  await kit.call("PATCH", path(), { name: "Idle" });
  expect(kit.asked.targetChanges).toEqual([]);
  await publish();
  await kit.call("PATCH", path(), { disabled: true });
  await kit.call("DELETE", path());
  const spec = { profile: "source", spec: { url } };
  await kit.call("POST", `/api/stream/${stream.id}/create-multistream-target`, spec);
  const [added] = (await read()).multistream.targets;
  await kit.call("PATCH", `/api/stream/${stream.id}`, { multistream: { targets: [added] } });
  await kit.call("DELETE", `/api/stream/${stream.id}/multistream/${added?.id}`);
  expect(kit.asked.targetChanges).toEqual(Array.from({ length: 5 }, () => stream.id));
});

it("a stream shows how its target is doing, its events tell of it, and it is healthy when the target is online", async () => {
  const { grant, start } = await publish();
  expect(await status()).toEqual({ state: "Idle" });
  await tell(kit.domains, changed(grant, start, {}), measured(grant, start.sessionId));
  expect(await status()).toEqual({ state: "Pending", since: now() });
  expect((await read()).isHealthy).toBeNull();
  await pass(2_000);
  await tell(kit.domains, changed(grant, start, { state: "online", told: "connected" }));
  expect(await status()).toEqual({ state: "Online", since: now() });
  expect((await read()).isHealthy).toBe(true);
  const reason = "The target closed the connection.";
  await tell(kit.domains, changed(grant, start, { reason, told: "error" }));
  const report = { target: target(), state: "pending", reason, metrics: null } as const;
  await tell(kit.domains, measured(grant, start.sessionId, { targets: [report] }));
  expect(await status()).toEqual({ state: "Pending", since: now(), reason });
  expect(await read()).toMatchObject({
    isHealthy: false,
    issues: ['The stream does not reach the multistream target "Elsewhere".'],
    status: { issues: [{ code: "target-not-connected", evidence: reason }] },
  });
  expect((await events()).findLast(({ type }) => type === "media_server_metrics")).toMatchObject({
    multistream: [{ target: target(), metrics: null, reason }],
  });
  await tell(kit.domains, ended(grant, "clean-stop"));
  expect(await status()).toEqual({ state: "Idle" });
  expect(await told()).toEqual([
    ["multistream.connected", { target: target() }],
    ["multistream.error", { target: target(), reason, willRetry: true }],
    ["multistream.disconnected", { target: target() }],
  ]);
});

it("a target that was given up stays so when the session goes on elsewhere, and is begun anew by the next session", async () => {
  const { grant, start } = await publish();
  const reason = "The target refused the stream: wrong key.";
  await tell(kit.domains, changed(grant, start, { state: "offline", reason, told: "error" }));
  await tell(kit.domains, ended(grant, "source-lost"));
  const again = await publish();
  expect(again.start.sessionId).toBe(start.sessionId);
  expect(again.start.targets).toMatchObject([{ id, givenUp: reason }]);
  await tell(kit.domains, ended(again.grant, "clean-stop"));
  expect((await publish()).start.targets).toMatchObject([{ id, givenUp: null }]);
});

it("what is told of the targets of an earlier session changes nothing", async () => {
  const { grant, start } = await publish();
  await kit.call("DELETE", `/api/stream/${stream.id}/terminate`);
  await publish();
  await tell(kit.domains, changed(grant, start, { state: "online", told: "connected" }));
  expect(await status()).toEqual({ state: "Idle" });
  expect(await told()).toEqual([]);
});
