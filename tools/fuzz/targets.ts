import type { FuzzTarget } from "./fuzz-target.ts";
import { HTTP_TARGETS } from "./http-targets.ts";
import { MEDIA_TARGETS } from "./media-targets.ts";
import { NETWORK_TARGETS } from "./network-targets.ts";
import { RTMP_TARGETS } from "./rtmp-targets.ts";

/** Every reader of bytes that strangers send. */
export const TARGETS: readonly FuzzTarget[] = [...RTMP_TARGETS, ...MEDIA_TARGETS, ...NETWORK_TARGETS, ...HTTP_TARGETS];

/** Throws for a name that no target has. */
export function targetNamed(name: string): FuzzTarget {
  const target = TARGETS.find((one) => one.name === name);
  if (!target)
    throw new Error(`there is no fuzz target ${name}; there are ${TARGETS.map((one) => one.name).join(", ")}`);
  return target;
}
