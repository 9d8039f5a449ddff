import type koffi from "koffi";

const PR_SET_TIMERSLACK = 29;
const SCHED_OTHER = 0;
const SCHED_BATCH = 3;
/** Longer than any two frames are apart, and short beside the latency that callers agree on. */
const LATE_MS = 50;

/**
 * How Linux runs the threads that libsrt receives with. It has one for each connection, which it wakes for each packet that becomes due, and again for
 * each confirmation that it sends, only to announce that there is something to read, which nobody here waits for. What is due can be read anyway, and
 * what comes too late is given up when such a thread wakes, or when there is nothing to read.
 */
export interface SrtThreads {
  /**
   * Runs `start`. The threads that it starts, and those that they start, may be woken late, together (timer slack, prctl(2)), and do not interrupt
   * others when they are woken (SCHED_BATCH, sched(7)).
   */
  calmly<Result>(start: () => Result): Result;
}

/** Elsewhere than on Linux, threads run as they are. */
export function srtThreads({ load }: Pick<typeof koffi, "load">): SrtThreads {
  if (process.platform !== "linux") return { calmly: (start) => start() };
  const system = load(null);
  const prctl = system.func(
    "int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)",
  );
  const setScheduler = system.func("int sched_setscheduler(int thread, int policy, const void *parameters)");
  const noPriority = new Int32Array(1);
  // Of this thread: others begin with what the one that starts them has. Where either is refused, threads only cost more.
  const set = (policy: number, slackMs: number): void => {
    setScheduler(0, policy, noPriority);
    prctl(PR_SET_TIMERSLACK, slackMs * 1e6, 0, 0, 0);
  };
  return {
    calmly(start) {
      set(SCHED_BATCH, LATE_MS);
      try {
        return start();
      } finally {
        // 0 is this thread's own.
        set(SCHED_OTHER, 0);
      }
    },
  };
}
