import { freemem } from "node:os";
import { availableCores } from "../../platform/available-cores.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { carried, type Limit, type Machine, MIX_PARTS, type Mix, type MixPart, only } from "./carried.ts";
import { CLIP_BITRATE_BPS } from "./clip.ts";
import { type Measurement, measureCosts } from "./measure-costs.ts";
import { busyWith } from "./quiet-machine.ts";
import { TrialServer } from "./trial-server.ts";

export type { Mix, MixPart } from "./carried.ts";

/** Of what is carried: the rest is for peaks, recordings and what nobody planned. */
const ADVISED = 0.7;
/** What admission counts for the ladder that is measured (`transcode-admission.ts`): 720p30 to 480p and 360p. */
const COUNTED_CORES_OF_LADDER = 0.46;

export interface CapacityOptions {
  /** The server is measured on these cores alone, in the form of `taskset` (`0` or `0-3`). Undefined: all. */
  readonly serverCores?: string | undefined;
  /** Cores for the load, in the same form. */
  readonly loadCores?: string | undefined;
  /** Measures although other programs are busy. */
  readonly anyway: boolean;
  readonly mix: Mix | null;
  readonly onProgress: (what: string, fraction: number) => void;
  readonly signal: AbortSignal;
}

export interface CarriedPart {
  /** So many, and nothing else, until something is used up or parts are 200 ms late. */
  readonly count: number;
  readonly advised: number;
  readonly limit: Limit;
  readonly measuredWith: number;
  readonly cores: number;
  readonly megabytes: number;
  /** Sent to or by one of them, when it is one of the measured bitrate. */
  readonly megabitsPerSecond: number;
}

export interface CapacityReport {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly bitrateBps: number;
  readonly parts: Readonly<Record<MixPart, CarriedPart>>;
  readonly idleCores: number;
  /** How many times the mix fits. */
  readonly mix: { readonly wanted: Mix; readonly times: number; readonly limit: Limit } | null;
  readonly settings: readonly string[];
  readonly measurement: Measurement;
}

/**
 * Measures what this machine carries with a server on a temporary folder, three to six minutes long. Throws `StartupError` on a busy machine and on systems other than
 * Linux.
 */
export async function measureCapacity(options: CapacityOptions): Promise<CapacityReport> {
  if (process.platform !== "linux") throw new StartupError("weir capacity reads /proc, so it works on Linux only");
  const busy = options.anyway ? null : await busyWith();
  if (busy !== null)
    throw new StartupError(`${busy}: stop them, or measure when the machine is free (--anyway measures all the same)`);
  const machine: Machine = { cores: coresIn(options.serverCores) ?? availableCores(), bytes: freemem() };
  const loadCores = coresIn(options.loadCores) ?? machine.cores;
  options.onProgress("starting a server", 0);
  const trial = await TrialServer.start(options);
  try {
    const measurement = await measureCosts({ ...options, trial, cores: machine.cores, loadCores });
    return reportOf(measurement, machine, options.mix);
  } finally {
    await trial.stop();
  }
}

export function reportOf(measurement: Measurement, machine: Machine, mix: Mix | null): CapacityReport {
  const parts = Object.fromEntries(
    MIX_PARTS.map((part) => [part, partOf(part, measurement, machine)]),
  ) as unknown as Record<MixPart, CarriedPart>;
  return {
    cores: machine.cores,
    memoryBytes: machine.bytes,
    bitrateBps: CLIP_BITRATE_BPS,
    parts,
    idleCores: measurement.idle.cores,
    mix: mix && { wanted: mix, ...carried(mix, measurement, machine) },
    settings: settingsFor(parts, machine),
    measurement,
  };
}

function partOf(part: MixPart, measurement: Measurement, machine: Machine): CarriedPart {
  const { cost, count: measuredWith } = measurement.parts[part];
  const { times, limit } = carried(only(part), measurement, machine);
  const count = Math.floor(times);
  return {
    count,
    advised: Math.floor(count * ADVISED),
    limit,
    measuredWith,
    cores: cost.cores,
    megabytes: cost.bytes / 1e6,
    megabitsPerSecond: CLIP_BITRATE_BPS / 1e6,
  };
}

/** Settings that differ from their defaults on this machine, each with its reason. */
function settingsFor({ ladders, hlsViewers }: Readonly<Record<MixPart, CarriedPart>>, { cores }: Machine): string[] {
  const budget = (ladders.advised * COUNTED_CORES_OF_LADDER).toFixed(1);
  const files = 32_768;
  return [
    `WEIR_TRANSCODE_CORES=${budget} admits ${ladders.advised} such ladders and refuses more (the default, ${(0.6 * cores).toFixed(1)}, admits ${Math.floor((0.6 * cores) / COUNTED_CORES_OF_LADDER)}); lower it by what streams and viewers need`,
    ...(hlsViewers.advised > 600
      ? [
          `LimitNOFILE=${files} (or ulimit -n ${files}): ${hlsViewers.advised} viewers need up to ${hlsViewers.advised * 2} connections`,
        ]
      : []),
  ];
}

/** How many cores a list such as `0,2-3` names. */
function coresIn(list: string | undefined): number | null {
  if (list === undefined) return null;
  return list.split(",").reduce((sum, range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return sum + last - first + 1;
  }, 0);
}
