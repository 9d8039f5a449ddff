import type { Command } from "commander";
import type { Finding } from "../../roles/doctor/doctor.ts";
import { Cli, originOf } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import { wholeNumber } from "../option-values.ts";

interface DoctorOptions {
  readonly fromOutside?: string;
  readonly rtmpPort: number;
  readonly stunPort: number;
}

const MARKS = {
  ok: ["green", "ok     "],
  warning: ["yellow", "warning"],
  problem: ["red", "PROBLEM"],
  "not-checked": ["dim", "unknown"],
} as const;

/** `weir doctor` */
export function doctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("examine this machine and the settings in the environment, and say what is wrong and what to do")
    .option("--from-outside <address>", "instead, try the ports of a server from this machine")
    .option("--rtmp-port <port>", "with --from-outside", wholeNumber(1, 65_535), 1935)
    .option("--stun-port <port>", "with --from-outside", wholeNumber(1, 65_535), 3478)
    .action(async ({ fromOutside, rtmpPort, stunPort }: DoctorOptions, command: Command) => {
      const { print } = new Cli(command);
      const findings = fromOutside === undefined ? await here() : await outside(fromOutside, rtmpPort, stunPort);
      if (print.isJson) print.line(JSON.stringify(findings, null, 2));
      else
        for (const { state, about, sentence } of findings) {
          const [style, mark] = MARKS[state];
          print.line(`${print.style(style, mark)}  ${about}: ${sentence}`);
        }
      if (findings.some(({ state }) => state === "problem")) process.exitCode = EXIT.failed;
    });
}

async function here(): Promise<readonly Finding[]> {
  const [{ examine }, { systemClock }] = await Promise.all([
    import("../../roles/doctor/doctor.ts"),
    import("../../platform/clock.ts"),
  ]);
  return examine(process.env, systemClock);
}

async function outside(address: string, rtmp: number, stun: number): Promise<readonly Finding[]> {
  const { examineFromOutside } = await import("../../roles/doctor/from-outside.ts");
  return examineFromOutside(originOf(address), { rtmp, stun });
}
