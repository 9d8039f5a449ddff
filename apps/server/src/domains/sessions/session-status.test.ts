import { describe, expect, it } from "vitest";
import { nextSessionStatus } from "./session-status.ts";

describe("session", () => {
  it("live, end: ended", () => expect(nextSessionStatus("live", "end")).toBe("ended"));
  it("ended, end: no such way, and the error names both", () => {
    expect(() => nextSessionStatus("ended", "end")).toThrow('session: no way from "ended" by "end"');
  });
});
