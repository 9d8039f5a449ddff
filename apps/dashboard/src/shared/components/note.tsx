import { CloseButton } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { strings } from "../strings.ts";
import classes from "./note.module.css";

interface Props {
  readonly tone: "failure" | "warning" | "quiet";
  readonly title?: string;
  readonly children: ReactNode;
  readonly onDismiss?: () => void;
}

/** A note where it matters: what did not work, and what to do. */
export function Note({ tone, title, children, onDismiss }: Props) {
  return (
    <div className={classes.note} data-tone={tone} role={tone === "failure" ? "alert" : "status"}>
      {tone !== "quiet" && <IconAlertTriangle size={18} aria-hidden className={classes.icon} />}
      <div className={classes.text}>
        {title && <strong>{title} </strong>}
        {children}
      </div>
      {onDismiss && <CloseButton size="sm" aria-label={strings.actions.dismiss} onClick={onDismiss} />}
    </div>
  );
}
