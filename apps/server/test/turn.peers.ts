import { execFileSync } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { TurnCredentials } from "../src/media/webrtc/index.ts";
import { systemClock } from "../src/platform/clock.ts";
import { Secret } from "../src/platform/secret.ts";
import { readConfig } from "../src/roles/config.ts";
import { checkTurn } from "../src/roles/doctor/check-turn.ts";
import { readTurnUrl, TurnClient, TurnRefused } from "../src/roles/doctor/turn-client.ts";
import { BlockedNetwork, Coturn, documentedBlock, SECRET } from "./support/coturn.ts";
import { freePort } from "./support/weir-process.ts";

let network: BlockedNetwork;
let webrtcPort: number;

beforeAll(async () => {
  try {
    const program = "turnserver";
    execFileSync(program, ["--version"], { stdio: "ignore" });
  } catch {
    throw new Error("there is no coturn: apt-get install coturn nftables, and run as root");
  }
  network = new BlockedNetwork();
  webrtcPort = await freePort();
});
afterAll(() => network?.[Symbol.dispose]());

const documented = () => documentedBlock("conf", webrtcPort);

/** What doctor finds of the TURN server. */
async function diagnosis(secret = SECRET): Promise<string> {
  const config = readConfig({
    WEIR_TURN_URLS: network.turnUrl,
    WEIR_TURN_SECRET: secret,
    WEIR_WEBRTC_ADDRESS: network.weirAddress,
  });
  const [finding] = await checkTurn({ config, env: {}, clock: systemClock, isRunning: false });
  return `${finding?.state}: ${finding?.sentence}`;
}

async function receiver(address: string, port: number): Promise<{ socket: Socket; port: number; received: string[] }> {
  const socket = createSocket("udp4");
  onTestFinished(() => void socket.close());
  const received: string[] = [];
  socket.on("message", (message) => received.push(String(message)));
  socket.bind(port, address);
  await once(socket, "listening");
  return { socket, port: socket.address().port, received };
}

test("the documented coturn leads to Weir's UDP port and nowhere else", async () => {
  await using _coturn = await Coturn.start(network, documented());
  const { weirAddress } = network;
  const weir = await receiver(weirAddress, webrtcPort);
  const other = await receiver(weirAddress, 0);
  const turn = new TurnCredentials({ clock: systemClock, urls: [], secret: new Secret(SECRET) });
  const { username, credential } = turn.iceServer("a viewer");
  await using client = await TurnClient.allocate(readTurnUrl(network.turnUrl), username, credential);
  await client.permit(weirAddress);

  // Another host, the server itself, and addresses that lead back to it.
  for (const peer of [network.viewerAddress, "10.211.1.2", "127.0.0.1", "0.0.0.0", "8.8.8.8", "224.0.0.1"])
    await expect(client.permit(peer)).rejects.toThrow(TurnRefused);

  // Another port, without the rule of nft and with it. A server handles the packets of a client in their order.
  const trySend = async (from: TurnClient, text: string): Promise<void> => {
    from.send(weirAddress, other.port, Buffer.from(text));
    await from.permit(weirAddress).catch(() => {});
  };
  await trySend(client, "unguarded");
  await expect.poll(() => other.received).toEqual(["unguarded"]);
  network.guardTurn(documentedBlock("nft", webrtcPort));
  client.send(weirAddress, webrtcPort, Buffer.from("to Weir"));
  await expect.poll(() => weir.received).toEqual(["to Weir"]);
  await using attacker = await TurnClient.allocate(readTurnUrl(network.turnUrl), username, credential);
  await attacker.permit(weirAddress);
  await trySend(attacker, "guarded");
  client.send(weirAddress, webrtcPort, Buffer.from("again"));
  await expect.poll(() => weir.received).toEqual(["to Weir", "again"]);
  expect(other.received).toEqual(["unguarded"]);

  // No more connections for one client than the quota.
  const more: TurnClient[] = [];
  onTestFinished(async () => void (await Promise.all(more.map((each) => each[Symbol.asyncDispose]()))));
  await expect(
    (async () => {
      for (let each = 0; each < 30; each++)
        more.push(await TurnClient.allocate(readTurnUrl(network.turnUrl), username, credential));
    })(),
  ).rejects.toThrow("refused with 486");
  expect(more.length).toBeLessThan(20);
});

test("doctor tells a good TURN server from one with another secret, an open one, and one that does not lead to Weir", async () => {
  {
    await using _coturn = await Coturn.start(network, documented());
    expect(await diagnosis()).toBe(
      `ok: ${network.turnUrl} takes Weir's credentials, and leads to ${network.weirAddress} alone`,
    );
    expect(await diagnosis("another")).toMatch(/^problem: .* refuses Weir's credentials \(401\)/);
  }
  {
    await using _coturn = await Coturn.start(network, documented().replaceAll(/^denied-peer-ip.*$/gm, ""));
    expect(await diagnosis()).toMatch(/^problem: .* lets viewers reach 192\.0\.2\.1, so it is an open relay/);
  }
  await using _coturn = await Coturn.start(network, documented().replaceAll(/^allowed-peer-ip.*$/gm, ""));
  expect(await diagnosis()).toMatch(/^problem: .* does not let viewers reach Weir at/);
});
