import type { Webhook } from "@weir/contract";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.webhooks.states;
const tones = { active: "quiet", failing: "failure", paused: "held" } as const;

export function stateOf({ status }: Webhook): "active" | "failing" | "paused" {
  if (status.pausedAt !== undefined) return "paused";
  return status.failuresInARow > 0 ? "failing" : "active";
}

export function WebhookState({ webhook }: { readonly webhook: Webhook }) {
  const state = stateOf(webhook);
  return <StateLabel tone={tones[state]}>{text[state]}</StateLabel>;
}
