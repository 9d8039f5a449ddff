import { hash } from "node:crypto";
import type { Clock } from "../../../platform/clock.ts";
import type { NodePlace, OtherNodes } from "../../../platform/cluster/index.ts";
import type { Log } from "../../../platform/log.ts";
import type { Audience } from "../../../ports/index.ts";

/** About 300 bytes each: far less than the 1 MiB that one request may have. */
const MAX_AT_ONCE = 2_000;
const TOLD_WITHIN_MS = 2_000;
const MAX_KEY_LENGTH = 100;
const FRESH_MS = 5_000;

/** A viewer of another node, since that one told of it last. Times are from when it is told. */
export interface ToldViewer {
  readonly playbackId: string;
  readonly key: string;
  readonly id: string;
  readonly client: string;
  readonly audience?: Audience;
  readonly arrivedAgoMs: number;
  readonly seenAgoMs: number;
  /** Nobody has counted it as new. */
  readonly isNew: boolean;
}

export interface CountingNodesSettings {
  readonly others: Pick<OtherNodes, "self" | "media" | "tell">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Which node counts the viewers of a playback id, so that a player whose requests reach several nodes is one viewer: the one that a hash of both ids
 * chooses among those that serve (rendezvous hashing), by every node's own reckoning. One that joins or leaves takes only its share along.
 */
export class CountingNodes {
  readonly #settings: CountingNodesSettings;
  #nodes: readonly NodePlace[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(settings: CountingNodesSettings) {
    this.#settings = settings;
  }

  /** Reads which nodes there are, unless that was a moment ago. Until it is read, and while the database is away, those that are known count. */
  refresh(): void {
    const { others, clock, log } = this.#settings;
    const now = clock.monotonic();
    if (now - this.#readAt < FRESH_MS) return;
    this.#readAt = now;
    others.media().then(
      (nodes) => {
        this.#nodes = nodes;
      },
      (error: unknown) => log.debug({ err: error }, "could not read which nodes count viewers"),
    );
  }

  /** The other node that counts them; null if this one does. */
  of(playbackId: string): NodePlace | null {
    let [chosen] = this.#nodes;
    if (this.#nodes.length < 2) return null;
    let best = "";
    for (const node of this.#nodes) {
      const weight = hash("sha256", `${node.nodeId} ${playbackId}`);
      if (weight > best) [best, chosen] = [weight, node];
    }
    return chosen && chosen.nodeId !== this.#settings.others.self ? chosen : null;
  }

  /** Resolves with whether that node counts them all. Never rejects. */
  async tell(place: NodePlace, viewers: readonly ToldViewer[]): Promise<boolean> {
    const { clock, log, others } = this.#settings;
    const asked = new AbortController();
    const late = clock.after(TOLD_WITHIN_MS, () => asked.abort());
    try {
      for (let from = 0; from < viewers.length; from += MAX_AT_ONCE) {
        const answer = await others.tell(place, "/viewers", viewers.slice(from, from + MAX_AT_ONCE), asked.signal);
        answer.resume();
        if (answer.statusCode !== 204) return false;
      }
      return true;
    } catch (error) {
      log.debug({ err: error, nodeId: place.nodeId }, "could not tell the node that counts a stream's viewers of them");
      return false;
    } finally {
      late.cancel();
    }
  }
}

/** From a request of another node. Throws for anything else. */
export function parseToldViewers(text: string): readonly ToldViewer[] {
  const told: unknown = JSON.parse(text);
  if (!Array.isArray(told) || !told.every(isTold)) throw new RangeError("a list of viewers that is none");
  return told;
}

function isTold(told: Partial<ToldViewer> | null): told is ToldViewer {
  if (told === null || typeof told !== "object") return false;
  const { playbackId, key, id, client, arrivedAgoMs, seenAgoMs } = told;
  const areTexts = [playbackId, key, id, client].every(
    (text) => typeof text === "string" && text.length <= MAX_KEY_LENGTH,
  );
  return areTexts && [arrivedAgoMs, seenAgoMs].every((ms) => Number.isFinite(ms) && Number(ms) >= 0);
}
