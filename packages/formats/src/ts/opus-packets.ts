/** Splits a PES payload into Opus packets by their control headers (ETSI TS 103 605, opus_control_header). What follows a damaged one is left out. */
export function* opusPackets(payload: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at + 2 < payload.length; ) {
    const [first = 0, flags = 0] = payload.subarray(at, at + 2);
    // control_header_prefix: 0x3ff in 11 bits.
    if (first !== 0x7f || (flags & 0xe0) !== 0xe0) return;
    at += 2;
    let size = 0;
    for (let part = 255; part === 255; size += part) part = payload[at++] ?? 0;
    if (flags & 0x10) at += 2; // start_trim
    if (flags & 0x08) at += 2; // end_trim
    if (flags & 0x04) at += 1 + (payload[at] ?? 0);
    if (at + size > payload.length) return;
    yield payload.subarray(at, at + size);
    at += size;
  }
}
