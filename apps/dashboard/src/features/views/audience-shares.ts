import { strings } from "../../shared/strings.ts";
import type { ViewDimension } from "./view-queries.ts";

const text = strings.viewers.views;
const MAX_SHOWN = 8;
const countries = new Intl.DisplayNames(["en"], { type: "region", fallback: "code" });

interface Group {
  readonly name: string;
  readonly viewCount: number;
}

export interface AudienceShare extends Group {
  /** The group's share of all views, 0 to 1. */
  readonly share: number;
}

/** The largest groups with their share of all views, the largest first, and the others as one. */
export function sharesOf(dimension: ViewDimension, groups: readonly Group[]): AudienceShare[] {
  const all = groups.reduce((sum, { viewCount }) => sum + viewCount, 0);
  const sorted = groups.filter(({ viewCount }) => viewCount > 0).sort((a, b) => b.viewCount - a.viewCount);
  const others = sorted.slice(MAX_SHOWN).reduce((sum, { viewCount }) => sum + viewCount, 0);
  const shown = sorted.slice(0, MAX_SHOWN).map((group) => ({ ...group, name: nameOf(dimension, group.name) }));
  if (others > 0) shown.push({ name: text.others, viewCount: others });
  return shown.map((group) => ({ ...group, share: group.viewCount / all }));
}

function nameOf(dimension: ViewDimension, name: string): string {
  if (name === "") return text.unknown;
  if (dimension === "country" && /^[A-Z]{2}$/.test(name)) return countries.of(name) ?? name;
  const devices: Readonly<Record<string, string>> = text.devices;
  return dimension === "deviceType" ? (devices[name] ?? name) : name;
}
