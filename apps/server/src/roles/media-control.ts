import { findServingMediaNode, type Schema } from "../domains/index.ts";
import type { Subscription } from "../platform/channel-listener.ts";
import type { Database } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import type { ClipWindow, MediaControl, StopReason, StoredContent } from "../ports/index.ts";

const CHANNEL = "media_control";

type Command =
  | { readonly type: "stop"; readonly streamId: string; readonly why: StopReason }
  | { readonly type: "access-changed"; readonly playbackId: string | "all" }
  | { readonly type: "seal-recording"; readonly sessionId: string; readonly untilMs: number }
  | { readonly type: "keep-window"; readonly window: ClipWindow }
  | { readonly type: "targets-changed"; readonly streamId: string }
  | { readonly type: "measure-recording"; readonly nodeId: string; readonly content: StoredContent }
  | { readonly type: "test-broadcast"; readonly nodeId: string; readonly streamKey: string; readonly seconds: number };

/** No process with role media is serving, so nothing can be broadcast. */
export class NoMediaNode extends Error {
  readonly code = "no-media-node";
  readonly statusCode = 503;
  constructor() {
    super("no media node is serving: start a process with role media");
  }
}

/** The domain floor's side: says to whom it concerns what to do, through the database, also where both floors are one process. */
export class NotifyMediaControl implements MediaControl {
  readonly #database: Database<Schema>;

  constructor(database: Database<Schema>) {
    this.#database = database;
  }

  async stop(streamId: string, why: StopReason): Promise<void> {
    await this.#send({ type: "stop", streamId, why });
  }

  async accessChanged(playbackId: string | "all"): Promise<void> {
    await this.#send({ type: "access-changed", playbackId });
  }

  async targetsChanged(streamId: string): Promise<void> {
    await this.#send({ type: "targets-changed", streamId });
  }

  async measureRecording(content: StoredContent): Promise<void> {
    const nodeId = await findServingMediaNode(this.#database.db);
    if (nodeId) await this.#send({ type: "measure-recording", nodeId, content });
  }

  async sealRecording(sessionId: string, untilMs: number): Promise<void> {
    await this.#send({ type: "seal-recording", sessionId, untilMs });
  }

  async keepWindow(window: ClipWindow): Promise<void> {
    await this.#send({ type: "keep-window", window });
  }

  /** Throws `NoMediaNode`. */
  async startTestBroadcast(streamKey: string, seconds: number): Promise<void> {
    // Of several nodes one alone must send it, or they would take the stream from each other.
    const nodeId = await findServingMediaNode(this.#database.db);
    if (!nodeId) throw new NoMediaNode();
    await this.#send({ type: "test-broadcast", nodeId, streamKey, seconds });
  }

  async #send(command: Command): Promise<void> {
    await this.#database.notify(CHANNEL, JSON.stringify(command));
  }
}

/** The commands to a media node. */
export interface MediaCommands {
  stop(streamId: string, why: StopReason): void;
  accessChanged(playbackId: string | "all"): void;
  targetsChanged(streamId: string | "all"): void;
  measureRecording(content: StoredContent): void;
  sealRecording(sessionId: string, untilMs: number): void;
  keepWindow(window: ClipWindow): void;
  startTestBroadcast(streamKey: string, seconds: number): void;
}

/** The media floor's side: does what was said to all, and what was said to this node. */
export function obeyMediaControl(
  database: Database<Schema>,
  nodeId: () => string,
  commands: MediaCommands,
  log: Log,
): Promise<Subscription> {
  return database.listen(CHANNEL, {
    message(payload) {
      // Who may send here may do anything with the database: what arrives is ours, though a newer process may send new kinds.
      const command = JSON.parse(payload) as Command;
      if (command.type === "stop") commands.stop(command.streamId, command.why);
      else if (command.type === "access-changed") commands.accessChanged(command.playbackId);
      else if (command.type === "seal-recording") commands.sealRecording(command.sessionId, command.untilMs);
      else if (command.type === "keep-window") commands.keepWindow(command.window);
      else if (command.type === "targets-changed") commands.targetsChanged(command.streamId);
      else if (command.type !== "test-broadcast" && command.type !== "measure-recording")
        log.warn("a media command of an unknown kind was ignored");
      else if (command.nodeId !== nodeId()) return;
      else if (command.type === "measure-recording") commands.measureRecording(command.content);
      else commands.startTestBroadcast(command.streamKey, command.seconds);
    },
    reconnected: () => {
      log.warn("media commands may have been missed while the database was unavailable");
      commands.accessChanged("all");
      commands.targetsChanged("all");
    },
  });
}
