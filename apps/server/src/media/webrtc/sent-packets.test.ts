import { expect, test } from "vitest";
import { SentPackets } from "./sent-packets.ts";

const payload = { head: new Uint8Array(), body: Uint8Array.of(1), isLast: true };

function sent(first: number, last: number): SentPackets {
  const packets = new SentPackets(8);
  for (let sequence = first; sequence <= last; sequence++) packets.add(sequence & 0xffff, 90, payload);
  return packets;
}

test("a request that is repeated within a round trip is answered once, and again after it", () => {
  const packets = sent(1, 3);
  expect(packets.again(2, 1000, 100)).toMatchObject({ sequence: 2, timestamp: 90, payload });
  expect(packets.again(2, 1001, 100)).toBeNull();
  expect(packets.again(2, 1099, 100)).toBeNull();
  expect(packets.again(3, 1099, 100)).toMatchObject({ sequence: 3 });
  expect(packets.again(2, 1100, 100)).toMatchObject({ sequence: 2 });
});

test("without a known round trip, repeated requests are answered every 50 ms", () => {
  const packets = sent(1, 1);
  const answers = Array.from({ length: 20 }, (_, n) => packets.again(1, n * 10, null)).filter((packet) => packet);
  expect(answers).toHaveLength(4);
});

test("packets that are too old, or were never sent, are not sent again; numbers wrap", () => {
  const packets = sent(65_530, 65_540);
  expect(packets.again(65_530, 0, 10)).toBeNull();
  expect(packets.again(100, 0, 10)).toBeNull();
  expect(packets.again(65_535, 0, 10)).toMatchObject({ sequence: 65_535 });
  expect(packets.again(4, 0, 10)).toMatchObject({ sequence: 4 });
});
