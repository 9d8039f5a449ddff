import { findMediaNodes, type Schema } from "../domains/index.ts";
import type { Subscription } from "../platform/channel-listener.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { MediaControl, SourceTrial, StoreAnswer } from "../ports/index.ts";
import { MediaAnswers, sendAnswer } from "./media-answers.ts";

const CHANNEL = "media_control";

/** A clip waits so long for the segment with its end, 12 s, and for the object store: the question is answered within 25 s. */
const MAX_ANSWER_MS = 26_000;
/** A source is tried for 10 s. */
const MAX_TRIAL_MS = 15_000;
/** The best answer first: where several nodes had a part of a session, one of them has the moments. */
const ANSWERS: readonly StoreAnswer[] = ["stored", "too-many", "failed", "not-here"];

/** What a media node does for each request of the port, and answers to those that have an answer. */
export type MediaCommands = {
  readonly [Name in keyof MediaControl]: (
    ...args: Parameters<MediaControl[Name]>
  ) => ReturnType<MediaControl[Name]> | Awaited<ReturnType<MediaControl[Name]>>;
};

/** A call of `MediaCommands`, as it goes through the database. */
interface Command {
  readonly name: keyof MediaCommands;
  readonly args: readonly unknown[];
  /** Null: every node. */
  readonly nodeId: string | null;
  /** The question that the node's answer belongs to. */
  readonly answerTo?: string;
}

/** No process with role media is serving, so nothing can be broadcast. */
export class NoMediaNode extends Error {
  readonly code = "no-media-node";
  readonly statusCode = 503;
  constructor() {
    super("no media node is serving: start a process with role media");
  }
}

/** The domain floor's side: says to whom it concerns what to do, through the database, also where both floors are one process. */
export function notifyMediaControl(
  database: Pick<Database<Schema>, "db" | "notify" | "listen">,
  clock: Clock,
): MediaControl {
  const answers = new MediaAnswers(database, clock);
  const send = (command: Command) => database.notify(CHANNEL, JSON.stringify(command));
  const toAll =
    <Name extends keyof MediaControl>(name: Name) =>
    (...args: Parameters<MediaControl[Name]>) =>
      send({ name, args, nodeId: null });
  return {
    moved: toAll("moved"),
    stop: toAll("stop"),
    accessChanged: toAll("accessChanged"),
    targetsChanged: toAll("targetsChanged"),
    /** Every node answers, because a session that moved has left a part of its media on each. */
    async storeMoments(...args) {
      // A node that is being stopped still has what it showed, and stores it.
      const nodeIds = await findMediaNodes(database.db, ["serving", "draining"]);
      const ask = (answerTo: string) => send({ name: "storeMoments", args, nodeId: null, answerTo });
      const given = await answers.ask<StoreAnswer>(nodeIds, ask, MAX_ANSWER_MS);
      return ANSWERS.find((answer) => given.includes(answer)) ?? "not-here";
    },
    async measureRecording(...args) {
      const [nodeId] = await findMediaNodes(database.db, ["serving"]);
      if (nodeId) await send({ name: "measureRecording", args, nodeId });
    },
    /** Throws `NoMediaNode`. */
    async startTestBroadcast(...args) {
      // Of several nodes one alone must send it, or they would take the stream from each other.
      const [nodeId] = await findMediaNodes(database.db, ["serving"]);
      if (!nodeId) throw new NoMediaNode();
      await send({ name: "startTestBroadcast", args, nodeId });
    },
    /** Throws `NoMediaNode`. */
    async trySource(...args) {
      const [nodeId] = await findMediaNodes(database.db, ["serving"]);
      if (!nodeId) throw new NoMediaNode();
      const ask = (answerTo: string) => send({ name: "trySource", args, nodeId, answerTo });
      const [trial] = await answers.ask<SourceTrial>([nodeId], ask, MAX_TRIAL_MS);
      return trial ?? { tracks: [], leftOut: null, problem: "The media node did not answer. Try again in a moment." };
    },
  };
}

/** The media floor's side: does what was said to all, and what was said to this node. */
export function obeyMediaControl(
  database: Pick<Database<Schema>, "listen" | "notify">,
  nodeId: () => string,
  commands: MediaCommands,
  log: Log,
): Promise<Subscription> {
  return database.listen(CHANNEL, {
    message(payload) {
      // Who may send here may do anything with the database: what arrives is ours, though a newer process may send new kinds.
      const command = JSON.parse(payload) as Command;
      if (!Object.hasOwn(commands, command.name)) return log.warn("a media command of an unknown kind was ignored");
      if (command.nodeId !== null && command.nodeId !== nodeId()) return;
      const obey: (...args: never[]) => unknown = commands[command.name];
      const answer = obey(...(command.args as never[]));
      const { answerTo: to } = command;
      Promise.resolve(answer)
        .then((value) => (to === undefined ? undefined : sendAnswer(database, { to, nodeId: nodeId(), answer: value })))
        .catch((error: unknown) => log.warn({ err: error, command: command.name }, "a media command failed"));
    },
    reconnected: () => {
      log.warn("media commands may have been missed while the database was unavailable");
      commands.accessChanged("all");
      commands.targetsChanged("all");
    },
  });
}
