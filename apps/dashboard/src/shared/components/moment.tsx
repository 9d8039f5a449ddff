import { absoluteMoment, relativeMoment } from "../lib/moments.ts";
import { useNow } from "../lib/now.ts";
import { strings } from "../strings.ts";

/** A moment as people say it, with the exact one on hover. */
export function Moment({ at }: { readonly at: number }) {
  const now = useNow(10_000);
  return (
    <time dateTime={new Date(at).toISOString()} title={absoluteMoment(at)}>
      {relativeMoment(at, now)}
    </time>
  );
}

/** When something happened last. */
export function LastMoment({ at }: { readonly at: number | undefined }) {
  return at ? <Moment at={at} /> : <span className="quiet">{strings.actions.never}</span>;
}
