import {
  IconAlertTriangleFilled,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleDotted,
  IconCircleMinus,
} from "@tabler/icons-react";
import type { CheckState, HealthStatus } from "./health-standing.ts";
import classes from "./health-word.module.css";

const icons = {
  healthy: IconCircleCheckFilled,
  unhealthy: IconAlertTriangleFilled,
  idle: IconCircleDashed,
  unknown: IconCircleDotted,
  waiting: IconCircleDotted,
  blank: IconCircleMinus,
};

interface Props {
  readonly state: HealthStatus | CheckState;
  /** A state of the past has no colour: colour means now. */
  readonly isPast?: boolean;
  readonly children: string;
}

/** A state as a shape, a colour and a word. */
export function HealthWord({ state, isPast = false, children }: Props) {
  const Icon = icons[state];
  return (
    <span className={classes.word} data-state={isPast ? "past" : state}>
      <Icon size={18} aria-hidden />
      {children}
    </span>
  );
}
