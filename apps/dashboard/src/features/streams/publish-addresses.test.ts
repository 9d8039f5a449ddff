import { expect, test } from "vitest";
import { publishCommands, srtAddress } from "./publish-addresses.ts";

test("an SRT address has the key, and the passphrase if there is one", () => {
  expect(srtAddress("srt://video.example.com:8890", undefined, "key")).toBe(
    "srt://video.example.com:8890?streamid=key",
  );
  expect(srtAddress("srt://video.example.com:8890", "every0way0in", "key")).toBe(
    "srt://video.example.com:8890?streamid=key&passphrase=every0way0in",
  );
});

test("each command ends with its address", () => {
  for (const command of Object.values(publishCommands)) expect(command("srt://here")).toMatch(/"srt:\/\/here"$/);
});
