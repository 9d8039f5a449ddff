import { expect, test, vi } from "vitest";
import { commandIn, ParentPage } from "./parent-page.ts";

const command = (more: object) => ({ type: "weir:command", ...more });

test("a command is one of those that there are", () => {
  expect(commandIn(command({ command: "play" }))).toEqual({ name: "play" });
  expect(commandIn(command({ command: "seek", seconds: 12.5 }))).toEqual({ name: "seek", seconds: 12.5 });
  for (const other of [
    null,
    "play",
    { command: "play" },
    command({ command: "constructor" }),
    command({ command: "__proto__" }),
    command({ command: ["play"] }),
    JSON.parse('{ "type": "weir:command", "__proto__": { "command": "play" } }'),
    command({ command: "seek" }),
    command({ command: "seek", seconds: -1 }),
    command({ command: "seek", seconds: "12" }),
    command({ command: "seek", seconds: Number.POSITIVE_INFINITY }),
  ])
    expect(commandIn(other)).toBeNull();
});

test("only the page that embeds the player controls it, and only from the origin that was expected", () => {
  const parent = { postMessage: vi.fn() };
  const page = new ParentPage(parent, "https://a.example");
  const message = { data: command({ command: "pause" }), source: parent as never, origin: "https://a.example" };
  expect(page.commandOf(message)).toEqual({ name: "pause" });
  expect(page.commandOf({ ...message, origin: "https://a.example.evil.test" })).toBeNull();
  expect(page.commandOf({ ...message, origin: "null" })).toBeNull();
  expect(page.commandOf({ ...message, source: { postMessage: vi.fn() } as never })).toBeNull();
  page.tell({ type: "weir:state", state: "offline" });
  expect(parent.postMessage).toHaveBeenCalledWith({ type: "weir:state", state: "offline" }, "https://a.example");
});

test("a page of an unknown origin controls nothing and is told nothing", () => {
  const parent = { postMessage: vi.fn() };
  const page = new ParentPage(parent, null);
  expect(page.commandOf({ data: command({ command: "play" }), source: parent as never, origin: "null" })).toBeNull();
  page.tell({ type: "weir:state", state: "playing" });
  expect(parent.postMessage).not.toHaveBeenCalled();
});
