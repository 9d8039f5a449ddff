import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, it } from "vitest";
import { Listener } from "../../platform/listener.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { bindingAnswer, StunResponder } from "./stun-responder.ts";

const REQUEST = Buffer.from("000100002112a442000102030405060708090a0b", "hex");

it("tells a client its address, XORed with the cookie and the transaction id", () => {
  const v4 = Buffer.from(bindingAnswer(REQUEST, "192.0.2.1", 32_853) ?? []).toString("hex");
  // The address and port of RFC 5769 2.2.
  expect(v4).toBe("0101000c2112a442000102030405060708090a0b002000080001a147e112a643");
  const v6 = Buffer.from(bindingAnswer(REQUEST, "2001:db8::1", 32_853) ?? []).toString("hex");
  expect(v6).toBe(
    "010100182112a442000102030405060708090a0b002000140002a1470113a9fa000102030405060708090a0a".slice(0, v6.length),
  );
  expect(v6).toHaveLength(88);
});

it.each([
  ["empty", ""],
  ["short", "00010000"],
  ["an answer", "010100002112a442000102030405060708090a0b"],
  ["without the cookie", "0001000000000000000102030405060708090a0b"],
  ["with a length that lies", "000100082112a442000102030405060708090a0b"],
  ["RTP", "80600000000000000000000000000000000000000000"],
])("a message that is %s gets no response", (_, hex) => {
  expect(bindingAnswer(Buffer.from(hex, "hex"), "192.0.2.1", 1)).toBeNull();
});

it("responds to a client at most twenty times a second, because senders may be forged", async () => {
  const clock = new ManualClock();
  const listener = new Listener("STUN UDP", "127.0.0.1", 0);
  const responder = new StunResponder(await listener.openUdp(), clock);
  const client = createSocket("udp4");
  let answers = 0;
  client.on("message", () => answers++);
  const ask = (times: number) => {
    for (let asked = 0; asked < times; asked++) client.send(REQUEST, listener.port, "127.0.0.1");
  };
  ask(60);
  await expect.poll(() => answers).toBe(20);
  clock.advance(1000);
  ask(1);
  await expect.poll(() => answers).toBe(21);
  client.close();
  await once(client, "close");
  await responder.close();
});
