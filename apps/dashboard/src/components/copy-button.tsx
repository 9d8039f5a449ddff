import { ActionIcon } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { copyText } from "../lib/clipboard.ts";
import { strings } from "../strings.ts";

/** Copies `value`. `what` completes the label: "Copy stream key". */
export function CopyButton({ value, what }: { readonly value: string; readonly what: string }) {
  const [outcome, setOutcome] = useState<"copied" | "refused" | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), 2000);
    return () => clearTimeout(timer);
  }, [outcome]);

  const label =
    outcome === null
      ? strings.actions.copy(what)
      : outcome === "copied"
        ? strings.actions.copied
        : strings.actions.notCopied;
  const Icon = outcome === null ? IconCopy : outcome === "copied" ? IconCheck : IconAlertTriangle;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={label}
      title={label}
      onClick={async () => setOutcome((await copyText(value)) ? "copied" : "refused")}
    >
      <Icon size={18} aria-hidden />
    </ActionIcon>
  );
}
