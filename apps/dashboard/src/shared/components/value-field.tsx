import { ActionIcon } from "@mantine/core";
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useState } from "react";
import { withinSentence } from "../lib/within-sentence.ts";
import { strings } from "../strings.ts";
import { CopyButton } from "./copy-button.tsx";
import classes from "./value-field.module.css";

interface Props {
  readonly label: string;
  readonly value: string;
  /** With its secrets masked: the field shows this until a person asks to see all. Copying works either way. */
  readonly concealed?: string;
}

/** An address, id or key, to be read and copied. */
export function ValueField({ label, value, concealed = value }: Props) {
  const [shown, setShown] = useState(false);
  const isSecret = concealed !== value;
  const what = withinSentence(label);
  const Icon = shown ? IconEyeOff : IconEye;
  return (
    <div className={classes.field}>
      <span className={classes.label}>{label}</span>
      <div className={classes.line}>
        <code className={classes.value}>{shown ? value : concealed}</code>
        {isSecret && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={shown ? strings.actions.conceal(what) : strings.actions.reveal(what)}
            onClick={() => setShown(!shown)}
          >
            <Icon size={18} aria-hidden />
          </ActionIcon>
        )}
        <CopyButton value={value} what={what} />
      </div>
    </div>
  );
}

/** Returns the value with a dot for every letter, so that a key keeps its groups. */
export function masked(value: string): string {
  return value.replace(/[^-]/g, "•");
}
