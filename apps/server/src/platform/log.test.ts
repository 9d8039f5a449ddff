import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLog, type LogSettings } from "./log.ts";
import { Secret } from "./secret.ts";

function logTo(settings: LogSettings) {
  let text = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { log: createLog(settings, sink), text: () => text };
}

test("an entry is one line of JSON with its fields and its level as a word", () => {
  const { log, text } = logTo({ level: "info", readable: false });
  log.info({ streamId: "s1" }, "stream is live");
  expect(JSON.parse(text())).toMatchObject({ level: "info", streamId: "s1", msg: "stream is live" });
});

test("secrets under any of their usual names, and of type Secret, are masked", () => {
  const { log, text } = logTo({ level: "info", readable: false });
  log.info({ streamKey: "abcd", request: { authorization: "Bearer abcd" }, other: new Secret("abcd") }, "x");
  expect(text()).not.toContain("abcd");
  expect(text().match(/\[secret\]/g)).toHaveLength(3);
});

test("below the level nothing is written", () => {
  const { log, text } = logTo({ level: "warn", readable: false });
  log.info("x");
  expect(text()).toBe("");
});

test("for a terminal an entry reads as a sentence, with the stack of an error below", () => {
  const { log, text } = logTo({ level: "info", readable: true });
  log.error({ port: 1, err: new Error("broken") }, "it failed");
  expect(text()).toMatch(/^\d\d:\d\d:\d\d ERROR it failed port=1\nError: broken\n {4}at /);
});

test("an error stands under err, with its message; a field named error is a mistake that does not compile", () => {
  const { log, text } = logTo({ level: "info", readable: false });
  log.error({ err: new Error("the disk is gone") }, "it failed");
  expect(JSON.parse(text())).toMatchObject({ err: { message: "the disk is gone", stack: expect.any(String) } });
  // @ts-expect-error pino would write {} for it
  log.error({ error: new Error("the disk is gone") }, "it failed");
});

test("of an error of the database the row is left out: it may hold keys", () => {
  const { log, text } = logTo({ level: "info", readable: false });
  const err = Object.assign(new Error("violates check constraint"), {
    code: "23514",
    detail: "Failing row contains (abcd-efgh).",
    where: "abcd-efgh",
    internalQuery: "abcd-efgh",
  });
  log.error({ err }, "it failed");
  expect(text()).toContain("23514");
  expect(text()).not.toContain("abcd-efgh");
});
