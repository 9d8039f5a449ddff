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
  /** It stood so once: without the colour, which means now. */
  readonly isPast?: boolean;
  readonly children: string;
}

/** How something stands: a shape, a colour and a word. */
export function HealthWord({ state, isPast = false, children }: Props) {
  const Icon = icons[state];
  return (
    <span className={classes.word} data-state={isPast ? "past" : state}>
      <Icon size={18} aria-hidden />
      {children}
    </span>
  );
}
