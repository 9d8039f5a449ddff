/** The name leads to an address that the server does not call. */
export class AddressRefused extends Error {}

/** The failure of a connection, as a sentence without the address; `isRefused` if the server does not call that address. */
export function failureOf(error: Error): { readonly sentence: string; readonly isRefused: boolean } {
  const isRefused = error instanceof AddressRefused;
  return { sentence: isRefused ? error.message : networkSentence(error), isRefused };
}

const SENTENCES: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name is not known",
  ENODATA: "the host name has no address",
  ESERVFAIL: "the host name could not be looked up",
  EAI_AGAIN: "the host name could not be looked up",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset before an answer came",
  EPIPE: "the connection was reset before an answer came",
  ETIMEDOUT: "the host did not answer",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the host cannot be reached",
  HPE_HEADER_OVERFLOW: "the answer's headers are too long",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the host's certificate is signed by nobody we trust",
  SELF_SIGNED_CERT_IN_CHAIN: "the host's certificate is signed by nobody we trust",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the host's certificate is signed by nobody we trust",
  CERT_HAS_EXPIRED: "the host's certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the host's certificate is for another name",
};

/** What a connection failed of. Node's own messages contain the address. */
export function networkSentence({ code = "", message }: NodeJS.ErrnoException): string {
  return SENTENCES[code] ?? SENTENCES[message] ?? `the call failed (${code || "no code"})`;
}
