/** CRC-32/MPEG-2: not reflected, not inverted (ISO/IEC 13818-1 annex A). It is 0 over a section that ends with its own. */
export function crc32(bytes: ArrayLike<number>): number {
  let crc = 0xffffffff;
  for (let at = 0; at < bytes.length; at++) {
    crc ^= (bytes[at] ?? 0) << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
