import type { WebhookLog } from "@weir/contract";
import { expect, test } from "vitest";
import { outcomeText, outcomeTitle, readableBody, storedText } from "./delivery-text.ts";

const call: WebhookLog = {
  id: "l",
  webhookId: "w",
  event: "stream.idle",
  createdAt: 1,
  duration: 0.1,
  success: false,
  attempt: 1,
  request: { url: "https://a.example", method: "POST", headers: {}, body: "{}" },
};

test("an answer is its status, and no answer its reason", () => {
  expect(outcomeText({ ...call, response: { status: 503, statusText: "Service Unavailable", body: "" } })).toBe(
    "503 Service Unavailable",
  );
  expect(outcomeText({ ...call, response: { status: 204, statusText: "", body: "" } })).toBe("204");
  expect(outcomeText({ ...call, error: "connection refused" })).toBe("connection refused");
  expect(outcomeTitle({ ...call, error: "connection refused" })).toBe("Connection refused");
});

test("JSON is set out in lines, what is none is left alone", () => {
  expect(readableBody('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(readableBody("<html>")).toBe("<html>");
});

test("stored text is UTF-8, also when it is cut within a letter", () => {
  expect(storedText(Buffer.from("Grüße").toString("base64"))).toBe("Grüße");
  expect(storedText(Buffer.from("ü").subarray(0, 1).toString("base64"))).toBe("\ufffd");
});
