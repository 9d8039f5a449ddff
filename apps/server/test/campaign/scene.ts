import { Chance } from "../support/chance.ts";
import { TokenSigner } from "../support/gated-broadcast.ts";
import { SMALL_LADDER } from "../support/transcoding.ts";
import { Audience } from "./audience.ts";
import { Clipper } from "./clipper.ts";
import { Customer } from "./customer.ts";
import { Encoder, type EncoderOptions } from "./encoder.ts";
import { Intruder } from "./intruder.ts";
import { Onlooker } from "./onlooker.ts";
import { Uploader } from "./uploader.ts";
import { WhepViewers } from "./whep-viewers.ts";
import type { World } from "./world.ts";
import { Writer } from "./writer.ts";

const WHEP_VIEWERS = 2;

/** Those whose promises are looked at. */
export interface Cast {
  readonly audiences: readonly Audience[];
  readonly customer: Customer;
  readonly intruder: Intruder;
  readonly writer: Writer;
  readonly uploader: Uploader;
  readonly clipper: Clipper;
  readonly onlooker: Onlooker;
  readonly whep: WhepViewers;
}

/** Everything at once: every way in, ladders, recordings, rewind, a slate, a target, a gate, and everybody who uses them. `scene` ends it. */
export async function assemble(world: World, scene: AsyncDisposableStack, seed: number): Promise<Cast> {
  const { target } = world;
  const forwarded = { multistream: { targets: [{ profile: "source", spec: { name: "elsewhere", url: target.url } }] } };
  const streams: readonly EncoderOptions[] = [
    { record: true, ...forwarded },
    { record: true, profiles: SMALL_LADDER },
    { record: true, dvr: "session", slate: "last-picture" },
    { playbackPolicy: { type: "jwt" } },
    { way: "srt", record: true },
    { way: "whip" },
    { way: "pull", record: true },
  ];
  const signer = await TokenSigner.create(world.weir);
  const customer = scene.use(await Customer.start(world, new Chance(seed)));
  const audiences = await Promise.all(
    streams.map(async (stream) => {
      const encoder = scene.use(await Encoder.start(world, stream));
      const token = stream.playbackPolicy ? await signer.sign(encoder.stream.playbackId, "12h") : null;
      return scene.use(new Audience(world, encoder, token));
    }),
  );
  const [forwarding, rungs, , gated] = audiences.map(({ encoder }) => encoder.stream);
  if (!forwarding || !rungs || !gated) throw new Error("there are too few streams");
  return {
    audiences,
    customer,
    intruder: scene.use(new Intruder(world, gated)),
    writer: scene.use(new Writer(world)),
    uploader: scene.use(new Uploader(world)),
    clipper: scene.use(new Clipper(world, rungs)),
    onlooker: scene.use(new Onlooker(world, rungs)),
    whep: scene.use(new WhepViewers(world.weir.webrtcUrl(forwarding.playbackId), WHEP_VIEWERS)),
  };
}
