/** What an issue is about: one of the three checks, or what the broadcaster sends. */
export type HealthArea = "transcoding" | "realTime" | "multistreaming" | "source";

const AREAS: Readonly<Record<string, HealthArea>> = {
  "admission-refused": "transcoding",
  "unsupported-source": "transcoding",
  "transcoder-failed": "transcoding",
  "transcoder-behind": "realTime",
  "target-refused": "multistreaming",
};

/** Codes that this page does not know yet are about the source: there they are shown, whatever they say. */
export function areaOf(code: string): HealthArea {
  return AREAS[code] ?? "source";
}
