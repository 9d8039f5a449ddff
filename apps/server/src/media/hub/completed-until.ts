import type { Clock } from "../../platform/clock.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";

/** After this, the source's segment is complete, or never will be. */
const MAX_SOURCE_MS = 12_000;

/**
 * Resolves when all renditions of a running session have complete segments up to a program date-time (milliseconds since the epoch). Rungs may be
 * `lateRungsMs` later than the source.
 */
export async function completedUntil(
  renditions: readonly LiveRendition[],
  untilMs: number,
  clock: Clock,
  lateRungsMs: number,
): Promise<void> {
  const isRung = ({ name }: LiveRendition): boolean => name !== "source" && name !== "audio";
  const complete = (which: readonly LiveRendition[], maxWaitMs: number): Promise<unknown> => {
    const isThere = (rendition: LiveRendition): boolean => rendition.hasEnded || rendition.endMs >= untilMs;
    return Promise.all(which.map((each) => whenRendition(each, () => isThere(each), clock, maxWaitMs)));
  };
  const rungs = renditions.filter(isRung);
  await complete(
    renditions.filter((rendition) => !isRung(rendition)),
    MAX_SOURCE_MS,
  );
  await complete(rungs, lateRungsMs);
}

/** Resolves when `isTrue`, which is asked now and after each change of the rendition, or after `maxWaitMs`. */
async function whenRendition(
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
