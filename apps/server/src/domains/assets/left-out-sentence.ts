import type { LeftOutTracks } from "../../ports/index.ts";

const KINDS = {
  audio: { name: "audio track", why: "an asset plays one audio track" },
  captions: { name: "caption track", why: "assets have no captions yet" },
} as const;

/** Tells the owner of a file which of its tracks nobody gets to hear or read. */
export function leftOutSentence({ type, count, languages }: LeftOutTracks): string {
  const { name, why } = KINDS[type];
  const which = languages.length > 0 ? ` (${languages.join(", ")})` : "";
  const [found, them] = count === 1 ? [`a further ${name}`, "it"] : [`${count} further ${name}s`, "them"];
  return `The file has ${type === "captions" ? found.replace("further ", "") : found}${which}. Weir left ${them} out: ${why}.`;
}
