import { ActionIcon } from "@mantine/core";
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useState } from "react";
import { strings } from "../strings.ts";
import { CopyButton } from "./copy-button.tsx";
import classes from "./value-field.module.css";

interface Props {
  readonly label: string;
  readonly value: string;
  /** The field masks it until a person asks to see it; copying works either way. */
  readonly secret?: boolean;
}

/** An address, id or key, to be read and copied. */
export function ValueField({ label, value, secret = false }: Props) {
  const [shown, setShown] = useState(!secret);
  const what = label.toLowerCase();
  const Icon = shown ? IconEyeOff : IconEye;
  return (
    <div className={classes.field}>
      <span className={classes.label}>{label}</span>
      <div className={classes.line}>
        <code className={classes.value}>{shown ? value : masked(value)}</code>
        {secret && (
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
