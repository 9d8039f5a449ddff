import type { PlaybackPolicy } from "@weir/contract";
import { parseOrigins } from "../../shared/lib/origins.ts";

export const POLICY_TYPES = ["public", "jwt", "webhook"] as const;
export type PolicyType = (typeof POLICY_TYPES)[number];

/** Seconds between two questions about one viewer, where a policy names none. */
export const DEFAULT_REFRESH_SECONDS = 600;

/** A playback policy as it is typed. It keeps the fields of the other types while the person chooses; saving leaves them out. */
export interface PolicyDraft {
  readonly type: PolicyType;
  readonly webhookId: string;
  /** JSON of an object; empty for none. */
  readonly context: string;
  /** Seconds; empty for the default. */
  readonly refresh: string;
  readonly origins: string;
}

export interface PolicyProblems {
  readonly webhook?: true;
  readonly context?: true;
  readonly refresh?: true;
  /** The first origin that is none. */
  readonly origin?: string;
}

export function draftOf(policy: PlaybackPolicy | null | undefined): PolicyDraft {
  return {
    type: policy?.type ?? "public",
    webhookId: policy?.webhookId ?? "",
    context: policy?.webhookContext ? JSON.stringify(policy.webhookContext, null, 2) : "",
    refresh: policy?.refreshInterval === undefined ? "" : String(policy.refreshInterval),
    origins: policy?.allowedOrigins?.join(" ") ?? "",
  };
}

/** The problems of a draft; empty for a draft that can be saved. */
export function problemsOf({ type, webhookId, context, refresh, origins }: PolicyDraft): PolicyProblems {
  const { wrong } = parseOrigins(origins);
  return {
    ...(type === "webhook" && webhookId === "" && { webhook: true }),
    ...(type === "webhook" && contextOf(context) === null && { context: true }),
    ...(type === "webhook" && !/^\d*$/.test(refresh.trim()) && { refresh: true }),
    ...(wrong !== null && { origin: wrong }),
  };
}

/** The policy to send to the API, from a draft without problems. */
export function policyOf({ type, webhookId, context, refresh, origins }: PolicyDraft): PlaybackPolicy {
  const allowedOrigins = parseOrigins(origins).origins;
  const webhookContext = contextOf(context);
  return {
    type,
    ...(type === "webhook" && {
      webhookId,
      ...(webhookContext && { webhookContext }),
      ...(refresh.trim() !== "" && { refreshInterval: Number(refresh) }),
    }),
    ...(allowedOrigins.length > 0 && { allowedOrigins }),
  };
}

/** Undefined for nothing, null for what is no JSON object. */
function contextOf(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
