import { Writable } from "node:stream";
import { type DestinationStream, pino, stdSerializers } from "pino";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** pino writes an error completely under `err`. Under `error` it would write `{}`, so that field does not exist. */
export interface LogFields {
  readonly error?: never;
  readonly [name: string]: unknown;
}

interface Write {
  (fields: LogFields, sentence: string): void;
  (sentence: string): void;
}

/** The log as the code uses it: structured fields first, then a sentence. */
export interface Log extends Readonly<Record<LogLevel, Write>> {
  child(fields: LogFields): Log;
}

/** A second line of defence only: secrets have type `Secret` and never get here under their own name. */
const SECRET_FIELDS = [
  "accessKey",
  "apiKey",
  "authorization",
  "connectionString",
  "cookie",
  "databaseDirectUrl",
  "databaseUrl",
  "jwt",
  "password",
  "streamKey",
  "token",
];

export interface LogSettings {
  readonly level: LogLevel;
  /** One readable line per entry instead of JSON, for a person at a terminal. */
  readonly readable: boolean;
}

/** The process's log, written to `destination`. */
export function createLog(settings: LogSettings, destination: Writable = process.stdout): Log {
  const target: DestinationStream = settings.readable ? new ReadableLines(destination) : destination;
  return pino(
    {
      level: settings.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: withoutRows },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[secret]" },
    },
    target,
  );
}

/** For tests, and for callers without a log. */
export const silentLog: Log = pino({ level: "silent" });

/** The details of a PostgreSQL error contain the refused row, including its keys. */
const ROW_FIELDS = ["detail", "where", "internalQuery"];

function withoutRows(error: unknown): unknown {
  const shown = stdSerializers.err(error as Error);
  if (typeof shown !== "object" || shown === null) return shown;
  return Object.fromEntries(Object.entries(shown).filter(([name]) => !ROW_FIELDS.includes(name)));
}

class ReadableLines extends Writable {
  readonly #destination: Writable;

  constructor(destination: Writable) {
    super({ decodeStrings: false });
    this.#destination = destination;
  }

  override _write(line: string, _encoding: BufferEncoding, done: () => void): void {
    this.#destination.write(readable(line));
    done();
  }
}

function readable(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const facts = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const stack = (err as { stack?: string } | undefined)?.stack;
  const text = [String(time).slice(11, 19), String(level).toUpperCase().padEnd(5), msg, ...facts].join(" ");
  return `${text}\n${stack ? `${stack}\n` : ""}`;
}
