import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { PublishGate, PublishGrant } from "../../ports/index.ts";
import type { PayloadMemory, Publication, PublisherHandle } from "../packet.ts";
import { KeyCheck } from "./key-check.ts";
import { PublisherPlaces } from "./publisher-places.ts";

/** The calls of the media plane that a publisher needs. */
export interface PublicationHub {
  /** Memory for packets, taken back once they are packaged. */
  readonly memory: { readonly packets: PayloadMemory & { allocate(bytes: number): Uint8Array } };
  open(grant: PublishGrant, publisher: PublisherHandle): Publication;
}

/** State that all connections of all ingests share: a client that guesses keys may not begin anew with another protocol. */
export interface PublishSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: PublishGate;
  readonly hub: PublicationHub;
  readonly keys: KeyCheck;
  readonly places: PublisherPlaces;
}

export function publishSettings({
  maxConnections,
  ...common
}: Omit<PublishSettings, "keys" | "places"> & { readonly maxConnections: number }): PublishSettings {
  return { ...common, keys: new KeyCheck(common.clock), places: new PublisherPlaces(maxConnections) };
}
