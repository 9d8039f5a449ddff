import type { Finding, Patient } from "./finding.ts";
import { notChecked, ok, problem, warning } from "./finding.ts";

/** Signed requests to S3 stand for minutes, tokens and webhooks for some; a live playlist's times for less. */
const MAX_APART_MS = 5_000;
const ASK_WITHIN_MS = 5_000;
/** `TIME_ERROR`, which adjtimex returns while nothing keeps the clock right. */
const UNSYNCHRONISED = 5;
/** More than `struct timex` has on any platform. */
const TIMEX_BYTES = 512;

/** Whether this machine's clock is right: by the database's, the store's and the kernel's word. */
export async function checkClock(patient: Patient, databaseAheadMs: number | null): Promise<readonly Finding[]> {
  const asked = await Promise.all([
    { whose: "the database", aheadMs: databaseAheadMs },
    storeAheadMs(patient).then((aheadMs) => ({ whose: "the object store", aheadMs })),
  ]);
  const told = asked.flatMap(({ whose, aheadMs }) => (aheadMs === null ? [] : [{ whose, aheadMs }]));
  const wrong = told.find(({ aheadMs }) => Math.abs(aheadMs) > MAX_APART_MS);
  if (wrong) {
    const seconds = Math.round(Math.abs(wrong.aheadMs) / 1000);
    const direction = wrong.aheadMs > 0 ? "ahead of" : "behind";
    return [
      problem(
        "clock",
        `this machine's clock is ${seconds} s ${direction} that of ${wrong.whose}: turn on time synchronisation on both (timedatectl set-ntp true)`,
      ),
    ];
  }
  const kernel = await kernelState();
  if (kernel === UNSYNCHRONISED && told.length === 0)
    return [
      warning(
        "clock",
        "the clock of this machine is not synchronised: turn on time synchronisation (timedatectl set-ntp true)",
      ),
    ];
  if (told.length > 0) return [ok("clock", `agrees with that of ${told.map(({ whose }) => whose).join(" and ")}`)];
  return [
    kernel === null
      ? notChecked("clock", "nothing to compare it with")
      : ok("clock", "the kernel says that it is synchronised"),
  ];
}

/** By the `Date` of any answer: its resolution is a second. */
async function storeAheadMs({ config, clock }: Patient): Promise<number | null> {
  const { s3Bucket, s3Endpoint, s3Region } = config;
  if (s3Bucket === null) return null;
  const sentAt = clock.now();
  try {
    const url = s3Endpoint ?? `https://s3.${s3Region}.amazonaws.com`;
    const response = await fetch(url, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.timeout(ASK_WITHIN_MS),
    });
    const date = Date.parse(response.headers.get("date") ?? "");
    return Number.isNaN(date) ? null : (sentAt + clock.now()) / 2 - (date + 500);
  } catch {
    return null;
  }
}

/** Null where it cannot be asked. Reading needs no privilege. */
async function kernelState(): Promise<number | null> {
  if (process.platform !== "linux") return null;
  try {
    const koffi = (await import("koffi")).default;
    const adjtimex = koffi.load("libc.so.6").func("int adjtimex(void *state)") as (state: Buffer) => number;
    return adjtimex(Buffer.alloc(TIMEX_BYTES));
  } catch {
    return null;
  }
}
