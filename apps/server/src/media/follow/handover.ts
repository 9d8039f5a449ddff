import type { Clock } from "../../platform/clock.ts";
import type { NodePlace, OtherNodes } from "../../platform/cluster/index.ts";
import type { Log } from "../../platform/log.ts";
import type { PublishGrant, SessionStart, StreamMove, TimelinePosition } from "../../ports/index.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import type { FollowedSessions } from "./followed-sessions.ts";
import { writePlaces } from "./window-address.ts";
import { type WindowMessage, windowReader } from "./window-messages.ts";

/** The publisher's packets wait so long for the owner before, dead or alive. */
const ANSWER_WITHIN_MS = 400;

/** What the next owner of a session tells the one before. */
export interface ToldMove {
  readonly move: StreamMove;
  /** Of the owner that is told: another one cannot know where the session goes on. */
  readonly previousEpoch: number;
  /** What it has of the window, as by `writePlaces`. */
  readonly from: string;
}

export interface HandoverSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly others: Pick<OtherNodes, "tell" | "place">;
  readonly copies: FollowedSessions;
}

/** Goes on with the sessions of other nodes exactly where they are: asks the owner before for its position, and for what its window has. */
export class Handover {
  readonly #settings: HandoverSettings;

  constructor(settings: HandoverSettings) {
    this.#settings = settings;
  }

  /** The start as the owner before says, or as it is if that does not answer in time. Never rejects. */
  async begin(grant: PublishGrant, start: SessionStart): Promise<SessionStart> {
    const { previousPlace: place, previousEpoch, sessionId, resume } = start;
    if (!place || previousEpoch === null || !resume) return start;
    const { clock, log, copies, others } = this.#settings;
    const { streamId, playbackId, epoch } = grant;
    const copy = await copies.hold({ playbackId, streamId, place });
    const from = copy?.session?.sessionId === sessionId ? writePlaces(copy.session) : "";
    const told: ToldMove = { move: { streamId, sessionId, epoch, ...others.place }, previousEpoch, from };
    const asked = new AbortController();
    const late = clock.after(ANSWER_WITHIN_MS, () => asked.abort());
    let position: Partial<TimelinePosition> | null = null;
    try {
      for await (const message of this.#tell(place, told, asked.signal)) {
        if (message.kind === "position") position = message.position;
        else copy?.take(message);
      }
    } catch (error) {
      const about = { err: error, streamId, nodeId: place.nodeId };
      if (position === null)
        log.info(about, "the node that had a stream did not answer: its session goes on behind a gap");
    } finally {
      late.cancel();
      asked.abort();
    }
    // A node of another build may not say all of it.
    return position ? { ...start, resume: { ...resume, ...position } } : start;
  }

  async *#tell(place: NodePlace, told: ToldMove, signal: AbortSignal): AsyncGenerator<WindowMessage, void> {
    const answer = await this.#settings.others.tell(place, "/moved", told, signal);
    if (answer.statusCode !== 200) throw new Error(`the node that had the stream answers ${answer.statusCode}`);
    const read = windowReader();
    for await (const bytes of answer as AsyncIterable<Buffer>) yield* read(bytes);
  }

  /** The window of the session, as far as this node has a copy. */
  takeWindow({ sessionId }: SessionStart, playbackId: string): ReadonlyMap<string, LiveRendition> {
    return this.#settings.copies.take(playbackId, sessionId) ?? new Map();
  }
}
