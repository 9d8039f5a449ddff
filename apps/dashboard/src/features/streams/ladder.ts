import { DEFAULT_PROFILES, type Profile } from "@weir/contract";

/** The renditions of a stream in the editor: a preset, and the rungs that `custom` would have. */
export interface Ladder {
  readonly preset: Preset;
  readonly rungs: readonly Rung[];
}

export const PRESETS = ["default", "small", "none", "custom"] as const;
export type Preset = (typeof PRESETS)[number];

/** One rung as it is typed. */
export interface Rung {
  /** Identifies the rung on the screen while the person edits it. */
  readonly key: number;
  readonly name: string;
  readonly width: string;
  readonly height: string;
  /** Kilobits per second. */
  readonly bitrate: string;
  /** `0` for the source's own, else a whole number or a fraction such as `30000/1001`. */
  readonly fps: string;
  /** The fields that the editor does not show; it keeps them unchanged. */
  readonly rest: Pick<Profile, "quality" | "gop" | "profile" | "encoder">;
}

export type RungField = "name" | "width" | "height" | "bitrate" | "fps";
export type RungProblem = "name" | "source" | "twice" | "size" | "bitrate" | "fps";
export type RungProblems = Readonly<Partial<Record<RungField, RungProblem>>>;

/** The most rungs that the API takes. */
export const MAX_RUNGS = 32;

/** One rung for a phone on a bad line. It costs about a tenth of a core. */
const SMALL: readonly Profile[] = [{ name: "360p", width: 640, height: 360, bitrate: 700_000, fps: 0 }];

const PROFILES = { default: DEFAULT_PROFILES, small: SMALL, none: [] } as const;

/** The ladder that a stream has. */
export function ladderOf(profiles: readonly Profile[]): Ladder {
  const known = (["default", "small", "none"] as const).find((preset) => isSame(PROFILES[preset], profiles));
  return { preset: known ?? "custom", rungs: profiles.map(rungOf) };
}

export const NEW_LADDER = ladderOf(DEFAULT_PROFILES);

/** Another preset. `custom` begins with the rungs of the one before, so that it can be a change of that. */
export function withPreset(ladder: Ladder, preset: Preset): Ladder {
  if (preset !== "custom") return { preset, rungs: PROFILES[preset].map(rungOf) };
  return { preset, rungs: ladder.rungs.length > 0 ? ladder.rungs : SMALL.map(rungOf) };
}

export function withRung(ladder: Ladder, key: number, change: Partial<Record<RungField, string>>): Ladder {
  return { ...ladder, rungs: ladder.rungs.map((rung) => (rung.key === key ? { ...rung, ...change } : rung)) };
}

export function withoutRung(ladder: Ladder, key: number): Ladder {
  return { ...ladder, rungs: ladder.rungs.filter((rung) => rung.key !== key) };
}

export function withNewRung(ladder: Ladder): Ladder {
  const key = Math.max(-1, ...ladder.rungs.map((rung) => rung.key)) + 1;
  return { ...ladder, rungs: [...ladder.rungs, { ...BLANK, key }] };
}

const BLANK: Rung = { key: 0, name: "", width: "", height: "", bitrate: "", fps: "0", rest: {} };

/** The values that the API would refuse, per rung and field: by the rules of `Profile`, and because names are unique and "source" is reserved. */
export function problemsOf({ preset, rungs }: Ladder): readonly RungProblems[] {
  if (preset !== "custom") return [];
  return rungs.map((rung, i) => {
    const name = rung.name.trim();
    const isTwice = rungs.findIndex((other) => other.name.trim() === name) < i;
    const nameProblem = name === "" || name.length > 500 ? "name" : name === "source" ? "source" : isTwice && "twice";
    return {
      ...(nameProblem && { name: nameProblem }),
      ...(!isSize(rung.width) && { width: "size" as const }),
      ...(!isSize(rung.height) && { height: "size" as const }),
      ...(!(bitsOf(rung.bitrate) >= 400) && { bitrate: "bitrate" as const }),
      ...(fpsOf(rung.fps) === null && { fps: "fps" as const }),
    };
  });
}

export function isValid(ladder: Ladder): boolean {
  return problemsOf(ladder).every((problems) => Object.keys(problems).length === 0);
}

/** The field `profiles` of the API: null for the default ladder, whatever it is on the server. Ask `isValid` first. */
export function wantedProfiles(ladder: Ladder): Profile[] | null {
  return ladder.preset === "default" ? null : profilesOf(ladder);
}

/** The rungs as profiles. */
export function profilesOf({ preset, rungs }: Ladder): Profile[] {
  if (preset !== "custom") return [...PROFILES[preset]];
  return rungs.map(({ name, width, height, bitrate, fps, rest }) => ({
    name: name.trim(),
    width: Number(width),
    height: Number(height),
    bitrate: bitsOf(bitrate),
    ...(fpsOf(fps) ?? { fps: 0 }),
    ...rest,
  }));
}

function rungOf({ name, width, height, bitrate, fps, fpsDen, ...rest }: Profile, key: number): Rung {
  return {
    key,
    name,
    width: String(width),
    height: String(height),
    bitrate: String(bitrate / 1000),
    fps: fpsDen === undefined || fpsDen === 1 ? String(fps) : `${fps}/${fpsDen}`,
    rest,
  };
}

function isSize(text: string): boolean {
  return /^\d{1,5}$/.test(text.trim()) && Number(text) >= 128;
}

function bitsOf(kilobits: string): number {
  return /^\d+(\.\d+)?$/.test(kilobits.trim()) ? Math.round(Number(kilobits) * 1000) : Number.NaN;
}

function fpsOf(text: string): Pick<Profile, "fps" | "fpsDen"> | null {
  const [, fps, fpsDen] = text.trim().match(/^(\d{1,6})(?:\/(\d{1,6}))?$/) ?? [];
  if (fps === undefined || fpsDen === "0") return null;
  return { fps: Number(fps), ...(fpsDen !== undefined && { fpsDen: Number(fpsDen) }) };
}

function isSame(some: readonly Profile[], others: readonly Profile[]): boolean {
  const text = (profiles: readonly Profile[]): string =>
    JSON.stringify(
      profiles.map(({ name, width, height, bitrate, fps, ...rest }) => [name, width, height, bitrate, fps, rest]),
    );
  return text(some) === text(others);
}
