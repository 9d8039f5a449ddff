/** The area that an issue belongs to: one of the three checks, or the broadcaster's signal. */
export type HealthArea = "transcoding" | "realTime" | "multistreaming" | "source";

const AREAS: Readonly<Record<string, HealthArea>> = {
  "admission-refused": "transcoding",
  "unsupported-source": "transcoding",
  "transcoder-failed": "transcoding",
  "transcoder-behind": "realTime",
  "target-not-connected": "multistreaming",
  "target-too-slow": "multistreaming",
};

/** An unknown code counts as an issue of the source, so that the page shows it in any case. */
export function areaOf(code: string): HealthArea {
  return AREAS[code] ?? "source";
}
