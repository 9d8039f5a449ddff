import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { PublishGate, PublishGrant } from "../../ports/index.ts";
import type { PayloadMemory, Publication, PublisherHandle } from "../packet.ts";
import { KeyCheck } from "./key-check.ts";
import { PublisherPlaces } from "./publisher-places.ts";

/** The hub, as far as publishers need it. */
export interface PublicationHub {
  /** Memory for packets, which is reused after packaging. */
  readonly memory: { readonly packets: PayloadMemory & { allocate(bytes: number): Uint8Array } };
  open(grant: PublishGrant, publisher: PublisherHandle): Publication;
}

/** State shared by the connections of all ingests, so that a client that guesses keys cannot evade the limits with another protocol. */
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
