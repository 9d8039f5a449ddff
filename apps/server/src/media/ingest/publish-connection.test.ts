/** The protocol-independent part of all ingests, tested with a minimal text protocol. */
import { FormatError } from "@weir/formats/bits";
import { expect, test } from "vitest";
import type { PublishDecision, PublishRefusal } from "../../ports/index.ts";
import { Payload, type SourcePacket, type VideoTrack } from "../packet.ts";
import { grantOf, IngestRig } from "./ingest-rig.ts";
import { PublishConnection, type PublishWire } from "./publish-connection.ts";
import { type Refusal, UnsupportedCodec } from "./publish-refusals.ts";

const TRACK: VideoTrack = {
  id: 0,
  kind: "video",
  codec: "avc",
  config: Uint8Array.of(1),
  codecString: "avc1.64001f",
  width: 640,
  height: 360,
};

function packetAt(dts: number): SourcePacket {
  return { trackId: 0, kind: "video", dts, pts: dts, isIndependent: true, data: new Payload(Uint8Array.of(0)) };
}

/** A connection on which a sender writes `key …`, `track`, `frame …` and `bye`, and reads the server's messages. */
class TextIngest implements PublishWire {
  readonly protocol = "srt";
  readonly said: string[] = [];
  readonly connection: PublishConnection;
  #isPaused = false;
  readonly #kept: string[] = [];

  constructor(rig: IngestRig, client = "192.0.2.1") {
    this.connection = new PublishConnection(this, { remoteAddress: client, client }, rig.publishing);
  }

  send(...lines: string[]): void {
    this.#kept.push(...lines);
    this.#read();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#read();
  }

  accept(): void {
    this.said.push("welcome");
    this.resume();
  }

  refuse({ cause, sentence }: Refusal): void {
    this.said.push(`no (${cause}): ${sentence}`);
  }

  paceChanged(isAhead: boolean): void {
    this.said.push(isAhead ? "slower" : "fine");
  }

  close(): void {
    this.said.push("closed");
  }

  destroy(): void {
    this.said.push("cut");
    this.connection.gone();
  }

  #read(): void {
    while (!this.#isPaused && !this.connection.isClosed) {
      const line = this.#kept.shift();
      if (line === undefined) return;
      try {
        this.#line(line);
      } catch (error) {
        this.connection.fail(error);
      }
    }
  }

  #line(line: string): void {
    const [word, value = ""] = line.split(" ");
    if (word === "key") void this.connection.publish(value);
    else if (word === "track") this.connection.track(TRACK);
    else if (word === "frame") this.connection.packet(packetAt(Number(value)));
    else if (word === "bye") this.connection.stop();
    else if (word === "mp3") throw new UnsupportedCodec("This server does not support MP3.");
    else if (word === "bug") throw new Error("bug");
    else throw new FormatError("a line", 0);
  }
}

async function publishing(rig: IngestRig): Promise<TextIngest> {
  const ingest = new TextIngest(rig);
  ingest.send("key Right-Key");
  await expect.poll(() => ingest.said).toEqual(["welcome"]);
  return ingest;
}

/** The gate responds when the test calls the returned function. */
function answerLate(rig: IngestRig): (decision: PublishDecision) => void {
  const { promise, resolve } = Promise.withResolvers<PublishDecision>();
  rig.authorize = () => promise;
  return resolve;
}

test("data after the key waits for the gate, reaches the hub, and ends cleanly", async () => {
  const rig = new IngestRig();
  const answer = answerLate(rig);
  const ingest = new TextIngest(rig);
  ingest.send("key Right-Key", "track", "frame 0", "frame 3000", "bye");
  expect(rig.asked).toEqual([{ protocol: "srt", streamKey: "Right-Key", remoteAddress: "192.0.2.1" }]);
  expect(rig.publications).toEqual([]);
  answer(grantOf(1));
  await expect.poll(() => ingest.said).toEqual(["welcome", "closed"]);
  expect(rig.publication.tracks).toEqual([TRACK]);
  expect(rig.publication.packets.map(({ dts }) => dts)).toEqual([0, 3000]);
  expect(rig.publication.ends).toEqual([{ why: "clean-stop", reason: "the publisher stopped" }]);
  expect(rig.publication.publisher.protocol).toBe("srt");
});

test.each<[PublishRefusal, string]>([
  ["unknown-key", "not known"],
  ["suspended", "not known"],
  ["too-many", "limit of publishers"],
  ["draining", "shutting down"],
  ["unavailable", "cannot check"],
])("a key refused as %s is refused in the wire's protocol", async (reason, words) => {
  const rig = new IngestRig();
  rig.refusals.set("Some-Key", reason);
  const ingest = new TextIngest(rig);
  ingest.send("key Some-Key");
  await expect.poll(() => ingest.said.at(-1)).toBe("closed");
  expect(ingest.said).toEqual([expect.stringMatching(`^no \\(${reason}\\): .*${words}`), "closed"]);
  expect(rig.publications).toEqual([]);
});

test.each(["", "a/b", "..", "k".repeat(257)])(
  "the key %j is refused like an unknown one, and asks nobody",
  async (key) => {
    const rig = new IngestRig();
    const ingest = new TextIngest(rig);
    ingest.send(`key ${key}`);
    expect(ingest.said).toEqual([expect.stringContaining("no (unknown-key)"), "closed"]);
    expect(rig.asked).toEqual([]);
  },
);

test("a second key is unexpected and ends the publication", async () => {
  const rig = new IngestRig();
  const ingest = await publishing(rig);
  ingest.send("key Right-Key");
  expect(ingest.said).toEqual(["welcome", expect.stringContaining("no (out-of-turn)"), "closed"]);
  expect(rig.publication.ends).toMatchObject([{ why: "source-lost" }]);
  expect(rig.asked).toHaveLength(1);
});

test("a grant for a sender that has left is released, and nothing more is sent", async () => {
  const rig = new IngestRig();
  const answer = answerLate(rig);
  const ingest = new TextIngest(rig);
  ingest.send("key Right-Key");
  ingest.connection.gone();
  answer(grantOf(1));
  await expect.poll(() => rig.publications).toHaveLength(1);
  expect(rig.publication.ends).toEqual([{ why: "source-lost", reason: "connection closed" }]);
  expect(ingest.said).toEqual(["closed"]);
});

test("a sender taken over while being granted is closed without a confirmation", async () => {
  const rig = new IngestRig();
  const { open } = rig;
  rig.open = (grant, publisher) => {
    publisher.close("Another encoder took this stream over.");
    return open(grant, publisher);
  };
  const ingest = new TextIngest(rig);
  ingest.send("key Right-Key", "track");
  await expect.poll(() => rig.publications).toHaveLength(1);
  expect(ingest.said).toEqual(["no (let-go): Another encoder took this stream over.", "closed"]);
  expect(rig.publication.tracks).toEqual([]);
});

test("a publisher closed by the hub gets the hub's reason, and its publication is not ended twice", async () => {
  const rig = new IngestRig();
  const ingest = await publishing(rig);
  rig.publication.publisher.close("The stream was terminated.");
  expect(ingest.said).toEqual(["welcome", "no (let-go): The stream was terminated.", "closed"]);
  ingest.connection.gone();
  expect(rig.publication.ends).toEqual([]);
});

test.each([
  ["mp3", "no (unsupported-codec): This server does not support MP3."],
  ["@?!", "no (unreadable): The server could not read what was sent: a line at byte 0."],
])("%s is refused with a sentence for the broadcaster", async (line, refusal) => {
  const rig = new IngestRig();
  const ingest = await publishing(rig);
  ingest.send(line);
  expect(ingest.said[1]?.replace(/expected /, "")).toBe(refusal);
  expect(rig.publication.ends).toMatchObject([{ why: "source-lost" }]);
});

test("an internal error is logged, not sent", async () => {
  const rig = new IngestRig();
  const ingest = await publishing(rig);
  ingest.send("bug");
  expect(ingest.said).toEqual(["welcome", "closed"]);
  expect(rig.publication.ends).toEqual([{ why: "source-lost", reason: "internal error" }]);
  expect(rig.log).toContain("could not serve a publisher");
});

test("a sender ahead of real time is not read until it is due, and is in time again after a second without a pause", async () => {
  const rig = new IngestRig();
  const ingest = await publishing(rig);
  ingest.send("track");
  rig.publication.waitMs = 300;
  ingest.send("frame 0", "frame 1", "frame 2");
  expect(rig.publication.packets).toHaveLength(1);
  rig.clock.advance(300);
  expect(rig.publication.packets).toHaveLength(1);
  rig.publication.waitMs = 0;
  rig.clock.advance(300);
  expect(rig.publication.packets).toHaveLength(3);
  expect(ingest.said).toEqual(["welcome", "slower"]);
  rig.clock.advance(999);
  rig.publication.waitMs = 50;
  ingest.send("frame 3");
  rig.publication.waitMs = 0;
  rig.clock.advance(50 + 999);
  expect(ingest.said).toEqual(["welcome", "slower"]);
  rig.clock.advance(1);
  expect(ingest.said).toEqual(["welcome", "slower", "fine"]);
  rig.publication.waitMs = 50;
  ingest.send("frame 4");
  expect(rig.log.split("faster than real time")).toHaveLength(2);
});

test("a sender that leaves while paused is not read again", async () => {
  const rig = new IngestRig();
  const ingest = await publishing(rig);
  rig.publication.waitMs = 300;
  ingest.send("track", "frame 0");
  ingest.connection.gone();
  rig.publication.waitMs = 0;
  rig.clock.advance(2_000);
  expect(rig.publication.packets).toEqual([]);
  expect(ingest.said).toEqual(["welcome", "slower", "closed"]);
});

test("wrong keys count per client, across its connections", async () => {
  const rig = new IngestRig();
  for (let i = 0; i < 20; i++) new TextIngest(rig).send(`key Wrong-${i}`);
  await expect.poll(() => rig.log.split("publisher closed")).toHaveLength(21);
  const late = new TextIngest(rig);
  late.send("key Wrong");
  const neighbour = new TextIngest(rig, "192.0.2.2");
  neighbour.send("key Wrong");
  await expect.poll(() => neighbour.said.at(-1)).toBe("closed");
  expect(late.said).toEqual([]);
  rig.clock.advance(3_000);
  await expect.poll(() => late.said.at(-1)).toBe("closed");
});

test("a sender beyond the server's limit is refused, and its grant is released", async () => {
  const rig = new IngestRig({ maxConnections: 4 });
  for (let i = 0; i < 3; i++) await publishing(rig);
  const ingest = new TextIngest(rig);
  ingest.send("key Right-Key");
  await expect.poll(() => ingest.said.at(-1)).toBe("closed");
  expect(ingest.said).toEqual([expect.stringContaining("no (too-many)"), "closed"]);
  expect(rig.publications.map(({ ends }) => ends.length)).toEqual([0, 0, 0, 1]);
});

test("if too many connections wait without a key, the oldest is closed", () => {
  const rig = new IngestRig({ maxConnections: 4 });
  const [oldest, next] = [new TextIngest(rig), new TextIngest(rig)];
  expect(oldest.said).toEqual(["closed", "cut"]);
  expect(next.said).toEqual([]);
});

test("every refusal is reported to the gate with stream, address and sentence", async () => {
  const rig = new IngestRig();
  const attempt = { protocol: "srt", remoteAddress: "192.0.2.1" };
  const ingest = await publishing(rig);
  ingest.send("mp3");
  expect(rig.refused).toEqual([{ ...attempt, streamId: "stream", sentence: "This server does not support MP3." }]);
  rig.authorize = async () => ({ ok: false, reason: "unknown-key" });
  new TextIngest(rig).send("key Wrong-Key");
  const sentence = "This stream key is not known, or may not publish. Check the stream key.";
  await expect.poll(() => rig.refused.at(-1)).toEqual({ ...attempt, streamId: null, sentence });
  (await publishing(new IngestRig())).send("bye");
  expect(rig.refused.length).toBe(2);
});
