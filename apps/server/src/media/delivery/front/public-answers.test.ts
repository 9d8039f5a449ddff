import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import type { PlaybackContent } from "../../../ports/index.ts";
import type { AccessRequest } from "./access-request.ts";
import { PublicAnswers } from "./public-answers.ts";

const requestOf = (id: number) =>
  ({ address: { playbackId: `${id}` }, step: "media", url: "", origin: null, referer: "" }) as AccessRequest;
const grant = { ok: true, content: {} as PlaybackContent, pass: null, expiresInMs: 1_000, isFull: false } as const;

test("20,000 decisions are cached, and another one evicts only the oldest", () => {
  const answers = new PublicAnswers(new ManualClock());
  for (let id = 0; id <= 20_000; id++) answers.keep(requestOf(id), { ...grant, perOrigin: false });
  expect([0, 1, 10_000, 20_000].map((id) => answers.isKept(requestOf(id)))).toEqual([false, true, true, true]);
});

test("a decision by origin holds for that origin alone, and for no shared cache", () => {
  const answers = new PublicAnswers(new ManualClock());
  const from = (origin: string) => ({ ...requestOf(1), origin });
  answers.keep(from("https://a.test"), { ...grant, perOrigin: true });
  expect(answers.find(from("https://a.test"))).toMatchObject({ isShared: false, session: null });
  expect([answers.find(from("https://b.test")), answers.find(requestOf(1))]).toEqual([null, null]);
});
