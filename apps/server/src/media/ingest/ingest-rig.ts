import { Writable } from "node:stream";
import { createLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type {
  PublishDecision,
  PublishGrant,
  PublishRefusal,
  PublishRequest,
  RefusedAttempt,
} from "../../ports/index.ts";
import type { Publication, PublisherHandle, SourcePacket, Track } from "../packet.ts";
import { type PublishSettings, publishSettings } from "./publish-settings.ts";

/** Records what an ingest delivers for one publisher. */
export class RecordedPublication implements Publication {
  readonly grant: PublishGrant;
  readonly publisher: PublisherHandle;
  readonly tracks: Track[] = [];
  readonly packets: SourcePacket[] = [];
  waitMs = 0;
  readonly ends: { why: string; reason: string }[] = [];

  constructor(grant: PublishGrant, publisher: PublisherHandle) {
    this.grant = grant;
    this.publisher = publisher;
  }

  track(track: Track): void {
    this.tracks.push(track);
  }

  packet(packet: SourcePacket): void {
    this.packets.push(packet);
  }

  end(why: string, reason: string): void {
    this.ends.push({ why, reason });
  }
}

/**
 * The other side of an ingest: a gate, a hub and a clock controlled by the test. Valid keys are `Right-Key`; `refusals` maps other keys to reasons.
 */
export class IngestRig {
  readonly clock = new ManualClock();
  readonly asked: PublishRequest[] = [];
  readonly publications: RecordedPublication[] = [];
  /** Refusals reported to the gate. */
  readonly refused: RefusedAttempt[] = [];
  readonly refusals = new Map<string, PublishRefusal>();
  /** Sizes of the message buffers allocated. */
  readonly allocated: number[] = [];
  log = "";
  /** Replace it to delay or withhold the response. */
  authorize = async ({ streamKey }: PublishRequest): Promise<PublishDecision> => {
    if (streamKey === "Right-Key") return grantOf(this.asked.length);
    return { ok: false, reason: this.refusals.get(streamKey) ?? "unknown-key" };
  };
  open = (grant: PublishGrant, publisher: PublisherHandle): Publication => {
    const publication = new RecordedPublication(grant, publisher);
    this.publications.push(publication);
    return publication;
  };
  readonly publishing: PublishSettings;

  constructor({ maxConnections = 2_000 } = {}) {
    const destination = new Writable({
      write: (line, _encoding, done) => {
        this.log += line;
        done();
      },
    });
    this.publishing = publishSettings({
      clock: this.clock,
      log: createLog({ level: "debug", readable: false }, destination),
      gate: {
        targets: async () => [],
        authorize: (request) => {
          this.asked.push(request);
          return this.authorize(request);
        },
        begin: () => Promise.resolve(null),
        hasLease: () => true,
        refused: (attempt) => void this.refused.push(attempt),
      },
      hub: {
        memory: { packets: { allocate: (bytes) => this.#allocate(bytes), release: () => {} } },
        open: (grant, publisher) => this.open(grant, publisher),
      },
      maxConnections,
    });
  }

  #allocate(bytes: number): Uint8Array {
    this.allocated.push(bytes);
    return new Uint8Array(bytes);
  }

  get publication(): RecordedPublication {
    const [publication] = this.publications;
    if (!publication) throw new Error("there is no publication");
    return publication;
  }
}

export function grantOf(epoch: number): PublishDecision {
  return { ok: true, grant: { streamId: "stream", projectId: "project", playbackId: "playback", epoch } };
}

/** Memory of the garbage collector. */
export const PLAIN_MEMORY = { allocate: (bytes: number) => new Uint8Array(bytes), release() {} };
