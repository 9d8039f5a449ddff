import { expect, test } from "vitest";
import { RecordedPublication } from "./ingest-rig.ts";
import { afterGrant, afterKey, CLOSED, type PublishState, WAITING } from "./publish-state.ts";

const grant = { streamId: "stream", projectId: "project", playbackId: "playback", epoch: 1 };
const publication = new RecordedPublication(grant, { protocol: "srt", close: () => {} });
const ASKING: PublishState = { at: "asking" };
const PUBLISHING: PublishState = { at: "publishing", publication };

test.each<[PublishState, PublishState | null]>([
  [WAITING, ASKING],
  [ASKING, null],
  [PUBLISHING, null],
  [CLOSED, null],
])("a key for a connection that is $at", (state, next) => {
  expect(afterKey(state)).toEqual(next);
});

test.each<[PublishState, PublishState | null]>([
  [ASKING, PUBLISHING],
  [CLOSED, null],
])("a grant for a connection that is $at", (state, next) => {
  expect(afterGrant(state, publication)).toEqual(next);
});

test.each([WAITING, PUBLISHING])("an unrequested grant is an internal error: $at", (state) => {
  expect(() => afterGrant(state, publication)).toThrow(state.at);
});
