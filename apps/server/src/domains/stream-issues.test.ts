import { expect, it } from "vitest";
import {
  ended,
  events,
  kit,
  measured,
  now,
  publish,
  read,
  readSession,
  setUpLiveRig,
  stream,
  tell,
} from "./live-test-rig.ts";
import { GOOD_SOURCE } from "./source-measure-rig.ts";

setUpLiveRig();

const LATE_KEYFRAMES = { source: { ...GOOD_SOURCE, keyframeIntervalMs: 8_300 } };
const issueEvents = async () =>
  (await events()).flatMap((event) => (event.type === "stream_issue" ? [`${event.code} ${event.state}`] : []));

it("an issue is told, shown with its remedy, searchable, and gone when it is mended", async () => {
  const { grant, start } = await publish();
  await tell(kit.domains, measured(grant, start.sessionId, LATE_KEYFRAMES));
  const open = {
    code: "keyframe-interval-too-long",
    sentence: "The keyframe interval is at least 8.3 s.",
    evidence: expect.stringContaining("8.3 s without a keyframe"),
    remedy: expect.stringContaining("Set the keyframe interval of the encoder to 2 s."),
  };
  const ill = { isHealthy: false, issues: [open.sentence] };
  expect(await read()).toMatchObject({ ...ill, status: { issues: [{ ...open, since: now(), isHarmful: true }] } });
  expect(await readSession(start.sessionId)).toMatchObject(ill);
  expect((await events()).at(-1)).toMatchObject({ type: "stream_issue", ...open, state: "opened", timestamp: now() });
  const filters = encodeURIComponent(JSON.stringify([{ id: "isHealthy", value: false }]));
  expect((await kit.call("GET", `/api/stream?filters=${filters}`)).json()).toMatchObject([{ id: stream.id }]);

  await tell(kit.domains, measured(grant, start.sessionId, LATE_KEYFRAMES), measured(grant, start.sessionId));
  expect(await read()).toMatchObject({ isHealthy: true, issues: [] });
  expect((await read()).status).not.toHaveProperty("issues");
  expect((await kit.call("GET", `/api/stream?filters=${filters}`)).json()).toEqual([]);
  expect(await issueEvents()).toEqual(["keyframe-interval-too-long opened", "keyframe-interval-too-long closed"]);
});

it.each([
  ["clean-stop", { isHealthy: null, issues: null }],
  ["source-lost", { isHealthy: false, issues: [expect.stringContaining("No media comes")] }],
] as const)("what is open is closed by a %s, also when both come at once", async (why, after) => {
  const { grant, start } = await publish();
  await tell(kit.domains, measured(grant, start.sessionId, LATE_KEYFRAMES), ended(grant, why));
  expect(await read()).toMatchObject(after);
  expect((await read()).status).not.toHaveProperty("issues");
  expect(await issueEvents()).toEqual(["keyframe-interval-too-long opened", "keyframe-interval-too-long closed"]);
  await tell(kit.domains, measured(grant, start.sessionId, LATE_KEYFRAMES));
  expect(await issueEvents()).toHaveLength(2);
});

it("what another process of the same node opened is closed by the next one", async () => {
  const { grant, start } = await publish();
  await tell(kit.domains, measured(grant, start.sessionId, LATE_KEYFRAMES));
  const other = kit.another("one");
  await tell(other, measured(grant, start.sessionId));
  expect(await issueEvents()).toEqual(["keyframe-interval-too-long opened", "keyframe-interval-too-long closed"]);
  await other.close();
});

it("what may be meant is shown, and the stream counts as healthy", async () => {
  const { grant, start } = await publish();
  await tell(kit.domains, measured(grant, start.sessionId, { source: { ...GOOD_SOURCE, audio: "none" } }));
  expect(await read()).toMatchObject({
    isHealthy: true,
    issues: [],
    status: { issues: [{ code: "audio-missing", isHarmful: false }] },
  });
});
