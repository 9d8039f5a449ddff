import { findServingMediaNode, type Schema } from "../domains/index.ts";
import type { Subscription } from "../platform/channel-listener.ts";
import type { Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { MediaControl } from "../ports/index.ts";

const CHANNEL = "media_control";

/** What a media node does for each request of the port. */
export type MediaCommands = {
  readonly [Name in keyof MediaControl]: (...args: Parameters<MediaControl[Name]>) => void;
};

/** A call of `MediaCommands`, as it goes through the database. */
interface Command {
  readonly name: keyof MediaCommands;
  readonly args: readonly unknown[];
  /** Null: every node. */
  readonly nodeId: string | null;
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
export function notifyMediaControl(database: Pick<Database<Schema>, "db" | "notify">): MediaControl {
  const send = (command: Command) => database.notify(CHANNEL, JSON.stringify(command));
  const toAll =
    <Name extends keyof MediaControl>(name: Name) =>
    (...args: Parameters<MediaControl[Name]>) =>
      send({ name, args, nodeId: null });
  return {
    stop: toAll("stop"),
    accessChanged: toAll("accessChanged"),
    targetsChanged: toAll("targetsChanged"),
    sealRecording: toAll("sealRecording"),
    keepWindow: toAll("keepWindow"),
    async measureRecording(...args) {
      const nodeId = await findServingMediaNode(database.db);
      if (nodeId) await send({ name: "measureRecording", args, nodeId });
    },
    /** Throws `NoMediaNode`. */
    async startTestBroadcast(...args) {
      // Of several nodes one alone must send it, or they would take the stream from each other.
      const nodeId = await findServingMediaNode(database.db);
      if (!nodeId) throw new NoMediaNode();
      await send({ name: "startTestBroadcast", args, nodeId });
    },
  };
}

/** The media floor's side: does what was said to all, and what was said to this node. */
export function obeyMediaControl(
  database: Pick<Database<Schema>, "listen">,
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
      const obey: (...args: never[]) => void = commands[command.name];
      obey(...(command.args as never[]));
    },
    reconnected: () => {
      log.warn("media commands may have been missed while the database was unavailable");
      commands.accessChanged("all");
      commands.targetsChanged("all");
    },
  });
}
