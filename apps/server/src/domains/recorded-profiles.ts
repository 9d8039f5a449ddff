import type { Profile, RecordingSpec, TranscodeProfile } from "@weir/contract";

/** The profiles of a ladder that a recording keeps beside the source; all of them where the spec names none. */
export function recordedProfiles(spec: RecordingSpec | null | undefined, ladder: readonly Profile[]): Profile[] {
  const wanted = spec?.profiles;
  return wanted ? ladder.filter((profile) => wanted.some((one) => isSame(one, profile))) : [...ladder];
}

/** The first profile of a spec that the ladder does not make; null if it makes them all. */
export function profileNotInLadder(
  spec: RecordingSpec | null | undefined,
  ladder: readonly Profile[],
): TranscodeProfile | null {
  return spec?.profiles?.find((one) => !ladder.some((profile) => isSame(one, profile))) ?? null;
}

/** Whether a profile of a spec is this one of the ladder: what it names is the same. */
function isSame({ encoder = "H.264", fps = 0, ...wanted }: TranscodeProfile, profile: Profile): boolean {
  if (encoder !== "H.264" || (fps !== 0 && fps !== profile.fps)) return false;
  return Object.entries(wanted).every(([field, value]) => profile[field as keyof typeof wanted] === value);
}
