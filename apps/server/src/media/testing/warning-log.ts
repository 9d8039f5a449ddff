import { type Log, type LogFields, silentLog } from "../../platform/log.ts";

/** Appends the fields of each warning to `warnings`, those of the log itself included. */
export function warningLog(warnings: unknown[], own: LogFields = {}): Log {
  return {
    ...silentLog,
    warn: (fields: LogFields | string) => warnings.push(typeof fields === "string" ? own : { ...own, ...fields }),
    child: (fields) => warningLog(warnings, { ...own, ...fields }),
  };
}
