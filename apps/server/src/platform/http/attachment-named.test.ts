import { expect, test } from "vitest";
import { attachmentNamed } from "./attachment-named.ts";

test.each([
  ["holiday.mov", `attachment; filename="holiday.mov"; filename*=UTF-8''holiday.mov`],
  ["Über 100%.mp4", `attachment; filename="_ber 100_.mp4"; filename*=UTF-8''%C3%9Cber%20100%25.mp4`],
  [`a"; filename="b.exe`, `attachment; filename="a_; filename=_b.exe"; filename*=UTF-8''a%22%3B%20filename%3D%22b.exe`],
  ["../../etc/passwd", `attachment; filename="_.._etc_passwd"; filename*=UTF-8''_.._etc_passwd`],
  ["a\r\nset-cookie: b", `attachment; filename="a__set-cookie_ b"; filename*=UTF-8''a__set-cookie_%20b`],
  ["it's (1)*", `attachment; filename="it's (1)_"; filename*=UTF-8''it%27s%20%281%29_`],
  ["gpj\u202e.exe", `attachment; filename="gpj_.exe"; filename*=UTF-8''gpj_.exe`],
  ["...", `attachment; filename="download"; filename*=UTF-8''download`],
])("a file named %j is saved under a harmless name", (name, header) => {
  expect(attachmentNamed(name)).toBe(header);
});

test("a name with half a character, or of a thousand, still makes a header", () => {
  expect(attachmentNamed("\ud83d")).toMatch(/^attachment; filename="_"; filename\*=UTF-8''%EF%BF%BD$/);
  const header = attachmentNamed("\u{1f3ac}".repeat(1000));
  expect(header.length).toBeLessThan(2_200);
  expect(header).toMatch(/^[\x20-\x7e]+$/);
});
