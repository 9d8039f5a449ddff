import { WeirError } from "@weir/client";
import { StartupError } from "../platform/startup-error.ts";

/** What a script can tell apart. docs/4-operate/command-line.md lists them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** By custom, for arguments that a program does not know. */
  usage: 2,
  unreachable: 3,
  refused: 4,
  notFound: 5,
} as const;

/** OpenSSL's, where HTTP is answered. */
const ANSWER_WITHOUT_TLS = "ERR_SSL_WRONG_VERSION_NUMBER";

/** A failure that a person can mend: its message is a sentence, and no stack is printed. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code of a refused or unanswered call. */
export function exitCodeOf({ status }: WeirError): number {
  if (status === 0 || status === 502 || status === 503) return EXIT.unreachable;
  if (status === 401 || status === 403) return EXIT.refused;
  return status === 404 ? EXIT.notFound : EXIT.failed;
}

/** Whether this is a failure to report in a sentence, and which. Null for a bug. */
export function failureOf(error: unknown): { readonly message: string; readonly exitCode: number } | null {
  if (error instanceof CliError) return error;
  if (error instanceof StartupError) return { message: error.message, exitCode: EXIT.failed };
  if (error instanceof WeirError) {
    return { message: `${error.errors.join("\n")}${hintOf(error)}`, exitCode: exitCodeOf(error) };
  }
  return null;
}

function hintOf({ status, cause }: WeirError): string {
  if (status !== 0) return "";
  const { code } = ((cause as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException;
  return code === ANSWER_WITHOUT_TLS
    ? ". It answers without TLS there: if you trust the network, write http:// before the address."
    : ". Does the server run? --server or WEIR_URL names another one.";
}
