import type { SrtPeer } from "./srt-protocol.ts";

/** Reasons why a target rejected a connection, by SRT_REJECT_REASON of libsrt. */
const REASONS: Readonly<Record<number, string>> = {
  3: "it accepts no more connections",
  5: "it has too many connections waiting",
  7: "it closed the connection",
  8: "its version of SRT is too old or too new",
  10: "the passphrase is wrong",
  11: "one of both sides encrypts and the other does not: give its passphrase, or leave it out",
  16: "nobody answered",
  17: "it does not take this encryption",
};
/** Codes from here on are set by the target and correspond to HTTP status codes: 1401, 1404 and so on. Custom reasons start at 2000. */
const FIRST_OF_TARGET = 1_000;
const OF_TARGET: Readonly<Record<number, string>> = {
  1400: "it does not understand the streamid",
  1401: "it does not accept the streamid",
  1403: "it does not accept the streamid",
  1404: "it does not know the streamid",
  1409: "somebody sends to this streamid already",
  1503: "it is overloaded",
};

/** A sentence for libsrt's code of a failed connection. */
export function rejectionSentence(code: number, peer: SrtPeer): string {
  if (code === 16) return `The ${peer} cannot be reached: nobody answered.`;
  const known = OF_TARGET[code] ?? REASONS[code];
  if (known !== undefined) return `The ${peer} refused the stream: ${known}.`;
  if (code >= FIRST_OF_TARGET) return `The ${peer} refused the stream with code ${code}.`;
  // Without a specific code: most targets reject a wrong streamid this way.
  return `The ${peer} refused the stream. Check its streamid.`;
}
