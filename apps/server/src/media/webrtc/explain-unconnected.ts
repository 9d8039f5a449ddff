import type { Offer } from "@weir/formats/sdp";

/** Explains why an answered connection was never established, and what the operator can do. */
export function explainUnconnected(
  reason: string,
  { candidateTypes }: Pick<Offer, "candidateTypes">,
  addresses: readonly string[],
  port: number,
): string {
  const missing = ["host", "srflx", "relay"].filter((type) => !candidateTypes.includes(type));
  const theirs =
    missing.length > 0
      ? `the client offered no ${missing.join(" and no ")} candidates`
      : "the client offered all kinds of candidates";
  const ours = `this server offered ${addresses.join(", ") || "no address"} on UDP port ${port}`;
  return `WebRTC did not connect: ${reason}; ${theirs}, ${ours}. Set WEIR_WEBRTC_ADDRESS to the address that clients reach, and let UDP port ${port} through.`;
}
