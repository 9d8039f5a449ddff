/** The smallest file in MaxMind's format: all addresses from 128.0.0.0 on are in one country. */
export function countryFile(country: string): Buffer {
  const tree = Buffer.from([0, 0, UNKNOWN, 0, 0, UNKNOWN + SEPARATOR]);
  const metadata = map({
    binary_format_major_version: number(2),
    build_epoch: number(0),
    database_type: text("Test"),
    ip_version: number(4),
    node_count: number(1),
    record_size: number(24),
  });
  const data = map({ country: map({ iso_code: text(country) }) });
  return Buffer.concat([
    tree,
    Buffer.alloc(SEPARATOR),
    data,
    Buffer.from("\xab\xcd\xefMaxMind.com", "latin1"),
    metadata,
  ]);
}

/** With a single node, the first record that is not a node. */
const UNKNOWN = 1;
const SEPARATOR = 16;

/** MaxMind DB 2.0, "Output Data Section": three bits of type, five of size. */
const head = (type: number, size: number) => Buffer.from([(type << 5) | size]);
const text = (value: string) => Buffer.concat([head(2, value.length), Buffer.from(value)]);
const number = (value: number) => Buffer.concat([head(5, 1), Buffer.from([value])]);
const map = (fields: Readonly<Record<string, Buffer>>) =>
  Buffer.concat([
    head(7, Object.keys(fields).length),
    ...Object.entries(fields).flatMap(([name, value]) => [text(name), value]),
  ]);
