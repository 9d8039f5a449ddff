/**
 * The longest turn of the event loop while `work` runs, in milliseconds of this thread's CPU, which other processes do not lengthen. Keeps a core busy
 * meanwhile.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver] = [0, false];
  let last = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  try {
    await work();
  } finally {
    isOver = true;
  }
  // The turn that was the last.
  look();
  return longest;
}
