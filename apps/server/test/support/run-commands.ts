import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { CommandBlock } from "./command-blocks.ts";
import { freePort } from "./weir-process.ts";
import type { WeirServer } from "./weir-server.ts";

const run = promisify(execFile);
/** With `weir`, the command line. */
const BIN = fileURLToPath(new URL("../../../../bin", import.meta.url));

export interface ExampleStream {
  readonly id: string;
  readonly streamKey?: string;
}

/**
 * Runs a block like a reader who has set the variables, with `weir` in place of the server on the standard ports. `functions` replace
 * programs. Resolves with the output. Rejects if the last command fails, or `curl` gets an error response.
 */
export async function runCommands(
  { script }: CommandBlock,
  weir: WeirServer,
  stream: ExampleStream,
  { functions = "", cwd }: { readonly functions?: string; readonly cwd?: string } = {},
): Promise<string> {
  const here = script
    .replaceAll("localhost:8080", `127.0.0.1:${weir.httpPort}`)
    .replaceAll("localhost:1935", `127.0.0.1:${weir.rtmpPort}`)
    // Nothing is listening.
    .replaceAll("https://example.com/", `http://127.0.0.1:${await freePort()}/`)
    .replaceAll(/^\w+=.*….*$/gm, "");
  const env = {
    ...{ PATH: `${BIN}:${process.env.PATH}`, WEIR_URL: weir.url, WEIR_API_KEY: weir.apiKey },
    API_KEY: weir.apiKey,
    STREAM_ID: stream.id,
    STREAM_KEY: stream.streamKey,
  };
  const program = `set -euo pipefail\ncurl() { command curl --fail-with-body -sS "$@"; }\n${functions}\n${here}`;
  const { stdout } = await run("bash", ["-c", program], { env, ...(cwd === undefined ? {} : { cwd }) });
  return stdout;
}
