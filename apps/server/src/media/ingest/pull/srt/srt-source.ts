import { type Outbound, PULL } from "../../../../platform/outbound/outbound.ts";
import { type SrtProcess, srtAddressOf } from "../../../srt/index.ts";
import { connectionProblem, SourceProblem } from "../source-problem.ts";

/** Of a source that sends faster than real time: SRT cannot slow it down without losses. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;

export interface SrtSourceSettings {
  readonly outbound: Pick<Outbound, "find">;
  readonly srt: Pick<SrtProcess, "connect">;
  readonly signal: AbortSignal;
}

/** The transport stream of an SRT listener, which this server calls. Its end is a loss. Throws `SourceProblem`, and the signal's reason. */
export async function* srtSource(
  url: string,
  { outbound, srt, signal }: SrtSourceSettings,
): AsyncGenerator<Uint8Array, never> {
  const address = srtAddressOf(url);
  if (typeof address === "string") throw new SourceProblem(`The source's SRT address cannot be used: ${address}.`);
  // Connects to the very address that was checked, without resolving the name again.
  const place = await outbound.find({ url, purpose: PULL }).catch((error: Error) => {
    throw new SourceProblem(connectionProblem(error));
  });
  signal.throwIfAborted();
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let news = Promise.withResolvers<void>();
  let over: unknown = null;
  const end = (reason: unknown) => {
    over ??= reason;
    news.resolve();
  };
  const link = srt.connect(
    { ...address, ...place, peer: "source" },
    {
      connected() {},
      taken() {},
      media(piece) {
        if (over) return;
        bytes += piece.byteLength;
        waiting.push(piece.slice());
        if (bytes > MAX_WAITING_BYTES) end(new SourceProblem("The source sends faster than real time."));
        news.resolve();
      },
      failed: ({ reason }) => end(new SourceProblem(reason)),
    },
  );
  const stop = () => end(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      for (let piece = waiting.shift(); piece && !signal.aborted; piece = waiting.shift()) {
        bytes -= piece.byteLength;
        yield piece;
      }
      if (over) throw over;
      await news.promise;
      news = Promise.withResolvers();
    }
  } finally {
    signal.removeEventListener("abort", stop);
    link.close(true);
  }
}
