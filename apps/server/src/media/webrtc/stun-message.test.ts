import { expect, test } from "vitest";
import { IceCheck, xorMappedAddress } from "./stun-message.ts";

/** A check of Chromium 153 through a TURN server over TCP, as it arrived. */
const CHECK = Buffer.from(
  "000100502112a442596145" +
    "58792b676c68776f71000600097" +
    "92b54763a317a4e49000000c0570004000003e7802a000800000000000000000025000000240004" +
    "6e001fff00080014e8aee6be74ac49fdee83b816ce1509b95a1e11438028" +
    "0004e5d193ee",
  "hex",
);
const TIEBREAKER = Buffer.from("802a00080000000000000000", "hex");

/** The check, signed with a password of this test. */
function signed(password: string): Buffer {
  const copy = Buffer.from(CHECK);
  const at = copy.indexOf(TIEBREAKER) + 4;
  copy.writeBigUInt64BE(0n, at);
  const check = IceCheck.read(copy);
  check?.avoidZeroTiebreaker();
  return Buffer.from(check?.bytes(password) ?? []);
}

test("a tiebreaker of zero becomes one, and the check is signed with the same password again", () => {
  expect(IceCheck.read(CHECK)?.askedUfrag).toBe("y+Tv");
  const written = signed("the password of the answer");
  expect(written.length).toBe(CHECK.length);
  const again = IceCheck.read(written);
  expect(again?.isSignedWith("the password of the answer")).toBe(true);
  expect(again?.isSignedWith("another")).toBe(false);
  expect(written.readBigUInt64BE(CHECK.indexOf(TIEBREAKER) + 4)).toBe(1n);
  again?.avoidZeroTiebreaker();
  expect(Buffer.from(again?.bytes("the password of the answer") ?? [])).toEqual(written);
});

test("what is not a signed STUN message is passed over, whatever its lengths say", () => {
  for (let length = 0; length < CHECK.length; length++) expect(IceCheck.read(CHECK.subarray(0, length))).toBeNull();
  const lying = Buffer.from(CHECK);
  lying.writeUInt16BE(0xffff, 22);
  expect(IceCheck.read(lying)).toBeNull();
  expect(IceCheck.read(Buffer.from([0x80, 96, ...new Array<number>(98).fill(0)]))).toBeNull();
});

test("an address is obfuscated by the transaction, as RFC 5769 2.2 and 2.3 show", () => {
  const request = Buffer.from("000100002112a442b7e7a701bc34d686fa87dfae", "hex");
  expect(Buffer.from(xorMappedAddress(request, "192.0.2.1", 32853)).toString("hex")).toBe("0001a147e112a643");
  expect(Buffer.from(xorMappedAddress(request, "2001:db8:1234:5678:11:2233:4455:6677", 32853)).toString("hex")).toBe(
    "0002a1470113a9faa5d3f179bc25f4b5bed2b9d9",
  );
});
