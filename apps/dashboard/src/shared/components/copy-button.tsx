import { ActionIcon, Button } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { copyText } from "../lib/clipboard.ts";
import { strings } from "../strings.ts";

interface Props {
  readonly value: string;
  /** Completes the label: "Copy stream key". */
  readonly what: string;
  /** Shown beside the sign, where nothing else says what is copied. */
  readonly label?: string;
}

/** Copies `value`. */
export function CopyButton({ value, what, label: shown }: Props) {
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
  const copy = async (): Promise<void> => setOutcome((await copyText(value)) ? "copied" : "refused");
  if (shown !== undefined)
    return (
      <Button
        variant="default"
        size="xs"
        aria-label={label}
        leftSection={<Icon size={14} aria-hidden />}
        onClick={() => void copy()}
      >
        {shown}
      </Button>
    );
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} title={label} onClick={() => void copy()}>
      <Icon size={18} aria-hidden />
    </ActionIcon>
  );
}
