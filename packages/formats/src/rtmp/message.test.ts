import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import {
  MESSAGE,
  readCommand,
  readUint32,
  uint32Payload,
  userControlPayload,
  writeAmf0,
  writeCommand,
} from "./index.ts";

test("a command round-trips", () => {
  expect(readCommand(writeCommand("publish", 5, null, "key", "live"), MESSAGE.commandAmf0)).toEqual({
    name: "publish",
    transactionId: 5,
    object: null,
    args: ["key", "live"],
  });
});

test("an AMF3 command is AMF0 after one byte", () => {
  const payload = Uint8Array.of(0, ...writeCommand("createStream", 4, null));
  expect(readCommand(payload, MESSAGE.commandAmf3)).toMatchObject({ name: "createStream", transactionId: 4 });
});

test("a command without a transaction id has transaction id 0", () => {
  expect(readCommand(writeAmf0("_checkbw"), MESSAGE.commandAmf0)).toMatchObject({ transactionId: 0, args: [] });
});

test.each([
  ["nothing", new Uint8Array()],
  ["a number for a name", writeAmf0(1, 2)],
])("a command of %s is rejected", (_, payload) => {
  expect(() => readCommand(payload, MESSAGE.commandAmf0)).toThrow(FormatError);
});

test("numbers of control messages are unsigned", () => {
  expect(readUint32(uint32Payload(0xfffffffe))).toBe(0xfffffffe);
  expect(() => readUint32(Uint8Array.of(1, 2, 3))).toThrow(FormatError);
  expect(userControlPayload(7, 0x01020304)).toEqual(Uint8Array.of(0, 7, 1, 2, 3, 4));
});
