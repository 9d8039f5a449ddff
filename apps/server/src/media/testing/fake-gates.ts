import type {
  EventSink,
  MediaFact,
  PublishGate,
  PublishGrant,
  RestreamTarget,
  SessionStart,
  ViewerCount,
} from "../../ports/index.ts";
import type { LadderResources } from "../ladder/live-ladder.ts";
import { TranscodeAdmission } from "../ladder/transcode-admission.ts";
import type { PublisherHandle } from "../packet.ts";
import { LineMemory } from "../restream/line-pages.ts";
import type { RestreamResources } from "../restream/session-targets.ts";

/** A publish gate whose answers a test decides. Sessions begin new unless `nextStart` says otherwise. */
export class FakePublishGate implements PublishGate {
  nextStart: Partial<SessionStart> | null = {};
  /** Set to make `begin` wait. */
  hold: Promise<void> = Promise.resolve();
  /** Where every stream is forwarded to. */
  restreamTargets: readonly RestreamTarget[] = [];
  #sessions = 0;
  #epoch = 0;
  /** Of the latest publisher that began. */
  #begun: number | null = null;

  grant(streamId = "stream-1"): PublishGrant {
    return { streamId, projectId: "project-1", playbackId: `play${streamId.replace(/\W/g, "")}`, epoch: ++this.#epoch };
  }

  isAlone = false;

  hasLease(): boolean {
    return !this.isAlone;
  }

  refused(): void {}

  async authorize() {
    return { ok: true, grant: this.grant() } as const;
  }

  async begin({ epoch }: PublishGrant): Promise<SessionStart | null> {
    await this.hold;
    if (!this.nextStart) return null;
    const previousEpoch = this.#begun;
    this.#begun = epoch;
    return {
      previousEpoch,
      previousPlace: null,
      sessionId: `session-${++this.#sessions}`,
      startedAtMs: 0,
      resume: null,
      lastTargetDuration: null,
      lastSound: null,
      slate: "off",
      slateImage: null,
      record: false,
      dvrSeconds: null,
      recordedProfiles: [],
      profiles: [],
      isDefaultLadder: false,
      targets: this.restreamTargets,
      ...this.nextStart,
    };
  }

  async targets(): Promise<readonly RestreamTarget[]> {
    return this.restreamTargets;
  }
}

/** Keeps every fact. */
export class FactLog implements EventSink {
  readonly facts: MediaFact[] = [];

  readonly viewerCounts: ViewerCount[] = [];
  lost = 0;

  report(fact: MediaFact): void {
    this.facts.push(fact);
  }

  countViewers(counts: readonly ViewerCount[]): void {
    this.viewerCounts.push(...counts);
  }

  async settle(): Promise<boolean> {
    return true;
  }

  of<Type extends MediaFact["type"]>(type: Type): Extract<MediaFact, { type: Type }>[] {
    return this.facts.filter((fact): fact is Extract<MediaFact, { type: Type }> => fact.type === type);
  }
}

/** A publisher that remembers with which sentence it was closed. */
export class FakePublisher implements PublisherHandle {
  readonly protocol = "rtmp";
  closedWith: string | null = null;

  close(reason: string): void {
    this.closedWith ??= reason;
  }
}

/** Of a node with room for the ladders of a test. */
export const roomForLadders = (): TranscodeAdmission => new TranscodeAdmission({ cores: 8, freeBytes: () => 1e12 });

/** A node that cannot transcode. */
export const NO_LADDER: LadderResources = {
  admission: new TranscodeAdmission({ cores: 0, freeBytes: () => 0 }),
  encoding: { preset: "superfast", encoder: "libx264" },
  children: {
    take() {
      throw new Error("nothing is transcoded here");
    },
    start() {
      throw new Error("nothing is transcoded here");
    },
  },
};

/** A node that reaches no target. */
export const NO_TARGETS: RestreamResources = {
  maxQueued: () => 0,
  sent: { bytes: 0, skippedMs: 0 },
  memory: new LineMemory(),
  connectFor: () => () => {
    throw new Error("nothing is forwarded here");
  },
};

export const ORCHESTRATOR = { address: "node-1", url: "http://node-1" };
