/** Replaces the candidates of an SDP with these addresses, at each of these UDP ports. */
export function withCandidates(sdp: string, addresses: readonly string[], ports: readonly number[]): string {
  const lines = sdp.split(/\r?\n/).filter((line) => !/^a=(?:candidate:|end-of-candidates|ice-options:)/.test(line));
  while (lines.at(-1) === "") lines.pop();
  // Priorities by RFC 8445 5.1.2.1: host candidates, the first address preferred.
  const places = ports.flatMap((port) => addresses.map((address) => `${address} ${port}`));
  const candidates = places.map((place, index) => {
    const priority = 126 * 2 ** 24 + (65_535 - index) * 2 ** 8 + 255;
    return `a=candidate:${index + 1} 1 UDP ${priority} ${place} typ host`;
  });
  const firstMedia = lines.findIndex((line) => line.startsWith("m="));
  const nextMedia = lines.findIndex((line, index) => index > firstMedia && line.startsWith("m="));
  const at = nextMedia < 0 ? lines.length : nextMedia;
  // All media share the transport of the first section.
  return `${[...lines.slice(0, at), ...candidates, "a=end-of-candidates", ...lines.slice(at)].join("\r\n")}\r\n`;
}

/** Removes the candidates of an SDP: its reader learns the sender's address from the sender's first check. */
export function withoutCandidates(sdp: string): string {
  const isCandidate = (line: string): boolean => /^a=(?:candidate:|end-of-candidates)/.test(line);
  return sdp
    .split("\n")
    .filter((line) => !isCandidate(line))
    .join("\n");
}
