/** Of so many segments, so many late ones mean that the machine is too slow, and not busy for a moment: about 12 of 20 s. */
const WINDOW = 10;
const TOO_MANY_LATE = 6;
/** A rung that has just come back goes again at its second late segment: the others must not suffer from the attempt. */
const TOO_MANY_ON_TRIAL = 2;
const TRIAL_MS = 30_000;
/** Before the first return and after a failed one; the last stands for all that follow. */
const RETURN_AFTER_MS = [10_000, 20_000, 30_000];
/** For so long the machine must have had room for the next rung. */
const ROOM_MS = 20_000;

/** The rung that came back last, while it must prove that the machine carries it. */
interface Trial {
  readonly since: number;
  readonly late: number;
}

/**
 * How much of a ladder a machine carries (docs/lifecycles.md). *full*: all rungs are made. *reduced*: the rungs in `away`, by index and in the order in
 * which they went, are not made, and come back one at a time. *recovering*: all are made again, the last one on trial. Times are on the monotonic clock.
 */
export type LadderLoad =
  | { readonly state: "full"; readonly late: readonly boolean[] }
  | {
      readonly state: "reduced";
      readonly away: readonly number[];
      readonly late: readonly boolean[];
      readonly trial: Trial | null;
      readonly failedTrials: number;
      /** No rung comes back before. */
      readonly returnAt: number;
      readonly roomSince: number | null;
    }
  | { readonly state: "recovering"; readonly trial: Trial; readonly failedTrials: number };

export type LadderLoadInput =
  /** A segment is closed in all rungs that were to have it, in time or not. */
  | { readonly type: "segment"; readonly isLate: boolean; readonly now: number }
  /** The next segment begins. `hasRoom`: the machine has the time to make one rung more. */
  | { readonly type: "cut"; readonly hasRoom: boolean; readonly now: number };

export const FULL_LOAD: LadderLoad = { state: "full", late: [] };

/** The rungs that are not made, in the order in which they went. */
export function awayRungs(load: LadderLoad): readonly number[] {
  return load.state === "reduced" ? load.away : [];
}

/** The next state; `largestFirst` has the indices of all rungs. Rungs go from the largest to the smallest, and come back in the reverse order. */
export function nextLadderLoad(load: LadderLoad, input: LadderLoadInput, largestFirst: readonly number[]): LadderLoad {
  return input.type === "segment" ? afterSegment(load, input, largestFirst) : atCut(load, input, largestFirst);
}

function afterSegment(
  load: LadderLoad,
  { isLate, now }: { readonly isLate: boolean; readonly now: number },
  largestFirst: readonly number[],
): LadderLoad {
  const away = awayRungs(load);
  const [largest] = largestFirst.filter((index) => !away.includes(index));
  if (largest === undefined) return load;
  if (load.state !== "full" && load.trial && isLate) {
    const trial = { ...load.trial, late: load.trial.late + 1 };
    if (trial.late < TOO_MANY_ON_TRIAL) return { ...load, trial };
    return without([...away, largest], now, load.failedTrials + 1);
  }
  if (load.state === "recovering") return load;
  const late = [...load.late, isLate].slice(-WINDOW);
  if (!isLate || late.filter(Boolean).length < TOO_MANY_LATE) return { ...load, late };
  return without([...away, largest], now, load.state === "reduced" ? load.failedTrials : 0);
}

function without(away: readonly number[], now: number, failedTrials: number): LadderLoad {
  const wait = RETURN_AFTER_MS[Math.min(failedTrials, RETURN_AFTER_MS.length - 1)] ?? 0;
  return { state: "reduced", away, late: [], trial: null, failedTrials, returnAt: now + wait, roomSince: null };
}

function atCut(
  load: LadderLoad,
  { hasRoom, now }: { readonly hasRoom: boolean; readonly now: number },
  { length }: readonly number[],
): LadderLoad {
  switch (load.state) {
    case "full":
      return load;
    case "recovering":
      return now - load.trial.since < TRIAL_MS ? load : FULL_LOAD;
    case "reduced": {
      const roomSince = hasRoom ? (load.roomSince ?? now) : null;
      const isOver = load.trial !== null && now - load.trial.since >= TRIAL_MS;
      const waiting = { ...load, roomSince, trial: isOver ? null : load.trial };
      // Where nothing is made, nothing tells whether there is room: trying does.
      const hadRoom = load.away.length === length || (roomSince !== null && now - roomSince >= ROOM_MS);
      return now >= load.returnAt && hadRoom ? withOneMore(waiting, now) : waiting;
    }
  }
}

function withOneMore(load: Extract<LadderLoad, { state: "reduced" }>, now: number): LadderLoad {
  const away = load.away.slice(0, -1);
  const trial = { since: now, late: 0 };
  const { failedTrials } = load;
  if (away.length === 0) return { state: "recovering", trial, failedTrials };
  const [wait = 0] = RETURN_AFTER_MS;
  return { ...load, away, late: [], trial, returnAt: now + wait };
}
