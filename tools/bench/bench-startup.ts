import { type ServerOptions, withDataFolder, withServer } from "./bench-server.ts";
import { median, type Row } from "./report.ts";

/** Milliseconds from the start of the process until it says that it is ready. */
interface Starts {
  /** Makes the database. */
  readonly first: number;
  readonly later: number;
}

/** Two starts on a folder without data. */
export async function startTwice(folder: string, options: ServerOptions = {}): Promise<Starts> {
  const start = (): Promise<number> => withServer(folder, async ({ startMs }) => startMs, options);
  return { first: await start(), later: await start() };
}

/** Starts of this checkout and of the one in `root`, in turns whose order alternates. */
export async function compareStarts(root: string, rounds: number): Promise<Row[]> {
  const here: Starts[] = [];
  const there: Starts[] = [];
  const start = async (starts: Starts[], options: ServerOptions): Promise<void> => {
    starts.push(await withDataFolder((folder) => startTwice(folder, options)));
  };
  for (let round = 0; round < rounds; round++) {
    const turns = [() => start(here, {}), () => start(there, { root })];
    for (const next of round % 2 === 0 ? turns : turns.reverse()) await next();
  }
  return (["first", "later"] as const).flatMap((kind) => {
    const what = `ready after a ${kind} start`;
    const ratios = here.map((starts, round) => starts[kind] / (there[round]?.[kind] ?? Number.NaN));
    return [
      { what: `${what}: this version`, value: median(here.map((starts) => starts[kind])), unit: "ms" },
      { what: `${what}: the other version`, value: median(there.map((starts) => starts[kind])), unit: "ms" },
      { what: `${what}: worst of ${rounds} ratios`, value: Math.max(...ratios), unit: "times" },
      { what: `${what}: median of ${rounds} ratios`, value: median(ratios), unit: "times" },
    ];
  });
}
