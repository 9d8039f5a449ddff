import type { Clock } from "../../platform/clock.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { Config } from "../config.ts";

/** What a check found: one sentence with what is wrong, and what to do. */
export interface Finding {
  /** The thing that was checked, such as `database`. */
  readonly about: string;
  /** `warning`: Weir works, but less than it could. `not-checked`: nothing is known about it. */
  readonly state: "ok" | "warning" | "problem" | "not-checked";
  readonly sentence: string;
}

/** What checks look at. */
export interface Patient {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Whether a server runs on the data folder. Its ports and its folder are in use then, as they should be. */
  readonly isRunning: boolean;
}

/** Looks at one thing. It changes nothing that a server uses. */
export type Check = (patient: Patient) => Promise<readonly Finding[]>;

export const ok = (about: string, sentence: string): Finding => ({ about, state: "ok", sentence });
export const warning = (about: string, sentence: string): Finding => ({ about, state: "warning", sentence });
export const problem = (about: string, sentence: string): Finding => ({ about, state: "problem", sentence });
export const notChecked = (about: string, sentence: string): Finding => ({ about, state: "not-checked", sentence });

/** What `look` finds. A reason why a server would not start is a problem. */
export async function lookAt(about: string, look: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof StartupError) return problem(about, error.message);
    throw error;
  }
}

/** The words of an error, and of its cause where `fetch` only says that it failed. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as { readonly message?: string; readonly cause?: unknown };
  const { code, message: why } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  return code ?? why ?? (error as NodeJS.ErrnoException).code ?? message ?? String(error);
}
