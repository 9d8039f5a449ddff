import type { Clock } from "../../platform/clock.ts";
import type { LiveRendition } from "./live-rendition.ts";

/** Resolves when `isTrue`, which is asked now and after each change of the rendition, or after `maxWaitMs`. */
export async function whenRendition(
  rendition: Pick<LiveRendition, "onChange">,
  isTrue: () => boolean,
  clock: Clock,
  maxWaitMs: number,
): Promise<void> {
  if (isTrue()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = rendition.onChange(() => isTrue() && resolve());
  const deadline = clock.after(maxWaitMs, resolve);
  await promise;
  stop();
  deadline.cancel();
}
