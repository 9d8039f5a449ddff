import { expect, test } from "vitest";
import { readCommandLine } from "./command-line.ts";

const reasonOf = (...args: string[]) => {
  const read = readCommandLine(args);
  return read.kind === "refuse" ? read.reason : read.kind;
};

test("without arguments a server starts", () => {
  expect(readCommandLine([])).toEqual({ kind: "start" });
});

test.each(["--help", "-h"])("%s prints the usage and the common settings, in lines that fit a terminal", (option) => {
  const read = readCommandLine([option]);
  const text = read.kind === "print" ? read.text : "";
  for (const word of ["npm start -- --version", "WEIR_DATA_DIR", "WEIR_HTTP_PORT", "(default: 8080)"])
    expect(text).toContain(word);
  expect(Math.max(...text.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(100);
});

test("--version prints one line, and --help beside it wins", () => {
  const read = readCommandLine(["--version"]);
  expect(read.kind === "print" && read.text).toMatch(/^weir \d+\.\d+\.\d+, Node v\d+\.\d+\.\d+\n$/);
  expect(readCommandLine(["--version", "--help"])).toEqual(readCommandLine(["--help"]));
});

test("an unknown option is refused by its name, with the setting that was meant", () => {
  expect(reasonOf("--port", "9")).toBe(
    "unknown option --port: settings are environment variables; did you mean WEIR_HTTP_PORT? (--help lists the options)",
  );
  expect(reasonOf("--rtmp-port=9")).toContain("did you mean WEIR_RTMP_PORT?");
  expect(reasonOf("--frobnicate")).toBe("unknown option --frobnicate (--help lists the options)");
  expect(reasonOf("-x")).toContain("unknown option -x");
  expect(reasonOf("--constructor")).toContain("unknown option --constructor");
});

test.each([["start"], ["--", "start"], ["--help=1"], ["--help", "now"]])("%s is refused", (...args) => {
  expect(readCommandLine(args).kind).toBe("refuse");
});
