import cluster, { type Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { ProcessShare } from "../process-share.ts";
import { MediaProcess } from "./media-process.ts";
import type { ToProcess } from "./process-messages.ts";

const SHARE: ProcessShare = {
  number: 1,
  of: 2,
  sharing: "kernel",
  database: null,
  udp: null,
  ports: { httpPort: 1, httpsPort: 2, rtmpPort: 3, rtmpsPort: 4 },
};
const LONGEST_WAIT_MS = 12_000;

/** A process that is ready as soon as it is told to start, if the system could start it. */
class FakeWorker extends EventEmitter {
  readonly process: { readonly pid: number | undefined };

  constructor(pid: number | undefined) {
    super();
    this.process = { pid };
  }

  isConnected(): boolean {
    return this.process.pid !== undefined;
  }

  send({ kind }: ToProcess): void {
    if (kind === "start") queueMicrotask(() => this.emit("message", { kind: "ready" }));
    if (kind === "stop") this.die("SIGKILL");
  }

  die(signal: string): void {
    this.emit("exit", null, signal);
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

afterEach(() => vi.restoreAllMocks());

test.each([
  {
    what: "cannot begin another process",
    fail: () => {
      throw new Error("spawn ENOMEM");
    },
  },
  {
    what: "says later that it could not begin it",
    fail: () => {
      const worker = new FakeWorker(undefined);
      setImmediate(() => worker.emit("error", new Error("spawn EAGAIN")));
      return worker;
    },
  },
])("where the system $what, the parent goes on, and tries again until it can", async ({ fail }) => {
  const clock = new ManualClock();
  const workers: FakeWorker[] = [];
  const begin = () => {
    const worker = new FakeWorker(workers.length + 1);
    workers.push(worker);
    return worker as unknown as Worker;
  };
  const fork = vi.spyOn(cluster, "fork").mockImplementation(begin);
  vi.spyOn(cluster, "setupPrimary").mockReturnValue(undefined);
  const media = new MediaProcess({ clock, log: silentLog, share: () => SHARE });
  await media.start();
  fork.mockImplementationOnce(fail as unknown as typeof begin).mockImplementationOnce(fail as unknown as typeof begin);
  workers[0]?.die("SIGKILL");
  for (let looks = 0; looks < 10 && workers.length < 2; looks++) {
    await turn();
    await turn();
    clock.advance(LONGEST_WAIT_MS);
  }
  await turn();
  expect([workers.length, fork.mock.calls.length]).toEqual([2, 4]);
  await media.stop(1_000);
});

test("a process that was never begun needs no stop, and one that has ended neither", async () => {
  vi.spyOn(cluster, "fork").mockImplementation(() => new FakeWorker(7) as unknown as Worker);
  vi.spyOn(cluster, "setupPrimary").mockReturnValue(undefined);
  const media = new MediaProcess({ clock: new ManualClock(), log: silentLog, share: () => SHARE });
  await media.stop(1_000);
  await media.start();
  await media.stop(1_000);
  await media.stop(1_000);
});

test("where another process serves already, one that cannot start is replaced until it can", async () => {
  const clock = new ManualClock();
  const ended = new FakeWorker(7);
  ended.send = () => queueMicrotask(() => ended.die("SIGKILL"));
  const next = new FakeWorker(8);
  vi.spyOn(cluster, "fork")
    .mockReturnValueOnce(ended as unknown as Worker)
    .mockReturnValueOnce(next as unknown as Worker);
  vi.spyOn(cluster, "setupPrimary").mockReturnValue(undefined);
  const media = new MediaProcess({ clock, log: silentLog, share: () => SHARE });
  expect(await media.startOrReplace()).toBeNull();
  const isStarted = new Promise<void>((resolve) => {
    const { send } = next;
    next.send = (message) => {
      send.call(next, message);
      if (message.kind === "start") resolve();
    };
  });
  await turn();
  clock.advance(LONGEST_WAIT_MS);
  await isStarted;
  await media.stop(1_000);
});
