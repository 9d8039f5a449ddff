import type { Profile, RecordingSpec, TranscodeProfile } from "@weir/contract";

/**
 * The profiles of a ladder that a recording keeps in addition to the source; all of them if the spec names none. A recording encodes nothing again,
 * so for each profile of the spec it keeps the rung with that name or, if there is none, the rung that is closest to it.
 */
export function recordedProfiles(spec: RecordingSpec | null | undefined, ladder: readonly Profile[]): Profile[] {
  const wanted = spec?.profiles;
  if (!wanted) return [...ladder];
  const kept = new Set(wanted.map((one) => closestRung(one, ladder)));
  return ladder.filter((profile) => kept.has(profile));
}

function closestRung(wanted: TranscodeProfile, ladder: readonly Profile[]): Profile | undefined {
  const named = ladder.find(({ name }) => name === wanted.name);
  if (named) return named;
  const heightsApart = ({ height }: Profile) => (wanted.height === undefined ? 0 : Math.abs(height - wanted.height));
  const bitratesApart = ({ bitrate }: Profile) => Math.abs(Math.log(bitrate / wanted.bitrate));
  return ladder.toSorted((a, b) => heightsApart(a) - heightsApart(b) || bitratesApart(a) - bitratesApart(b))[0];
}
