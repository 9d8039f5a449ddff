import { expect, it } from "vitest";
import { Passwords } from "./password.ts";

const passwords = new Passwords();

it("a password is known again by its hash, which has its cost and never looks the same", async () => {
  const [stored, other] = [await passwords.hash("correct horse"), await passwords.hash("correct horse")];
  expect(stored).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(other).not.toBe(stored);
  expect(await passwords.isRight("correct horse", stored)).toBe(true);
  expect(await passwords.isRight("correct horsf", stored)).toBe(false);
});

it("a hash of another cost is checked with that cost", async () => {
  // RFC 7914, section 12: N = 1024, r = 8, p = 16, the first 32 bytes.
  const hash = Buffer.from("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162", "hex");
  const stored = `$scrypt$ln=10,r=8,p=16$${Buffer.from("NaCl").toString("base64").replace(/=+$/, "")}$${hash.toString("base64").replace(/=+$/, "")}`;
  expect(await passwords.isRight("password", stored)).toBe(true);
});

it("nobody has a password that is right, which takes as long to find out, and one composed in another way is the same", async () => {
  // The quickest of three: a busy machine makes single tries slower, but none quicker.
  const timed = async (stored: string | null) => {
    let quickest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 3; i++) {
      const begun = performance.now();
      expect(await passwords.isRight("not it", stored)).toBe(false);
      quickest = Math.min(quickest, performance.now() - begun);
    }
    return quickest;
  };
  const stored = await passwords.hash("correct horse");
  const [somebodys, nobodys] = [await timed(stored), await timed(null)];
  expect(nobodys).toBeGreaterThan(somebodys / 4);
  expect(await passwords.isRight("o\u0308l-und-essig", await passwords.hash("\u00f6l-und-essig"))).toBe(true);
});

it("the 21st that waits is turned away, and the others are served", async () => {
  const quick = new Passwords({ ln: 4, r: 8, p: 1 });
  const tries = await Promise.allSettled(Array.from({ length: 21 }, () => quick.hash("x")));
  expect(tries.filter(({ status }) => status === "rejected")).toEqual([
    { status: "rejected", reason: expect.objectContaining({ statusCode: 503 }) },
  ]);
});
