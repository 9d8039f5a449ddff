import { fileURLToPath } from "node:url";
import type { Clock } from "../../platform/clock.ts";
import type { Confinement } from "../../platform/confinement/confinement.ts";
import type { Log } from "../../platform/log.ts";
import { startPipedChild } from "../../platform/piped-child.ts";
import type { EncoderName } from "./transcode-protocol.ts";

/** The encoders that a node may be told to use; `auto` is the first hardware that works. */
export type EncoderChoice = "x264" | "auto" | "nvenc" | "qsv";

const CHILD = fileURLToPath(new URL("./encoder-probe-child.ts", import.meta.url));
/** Drivers that hang are taken for missing ones. */
const PROBE_MS = 15_000;

/** The encoder of live rungs. Hardware is tried first; where it does not work, the log says so and it is x264. */
export async function chooseEncoder(
  choice: EncoderChoice,
  clock: Clock,
  log: Log,
  confinement: Confinement,
): Promise<EncoderName> {
  if (choice === "x264") return "libx264";
  const found = await probeHardware(clock, confinement);
  const encoder = choice === "auto" ? found[0] : found.find((name) => name === `h264_${choice}`);
  if (encoder) log.info({ encoder }, "live transcoding uses the hardware encoder");
  else log.warn({ asked: choice, found }, "the configured encoder does not work here; using x264");
  return encoder ?? "libx264";
}

/** The hardware encoders that encode a picture on this machine, best first; tried in a child like those that will use them, for a driver may crash. Never rejects. */
async function probeHardware(clock: Clock, { prefix }: Confinement): Promise<readonly EncoderName[]> {
  const { process: child, output, ended } = startPipedChild({ program: CHILD, prefix });
  let names = "";
  output.on("data", (bytes: Uint8Array) => {
    names += Buffer.from(bytes).toString();
  });
  const deadline = clock.after(PROBE_MS, () => child.kill("SIGKILL"));
  await ended;
  deadline.cancel();
  return names.split("\n").slice(0, -1) as EncoderName[];
}
