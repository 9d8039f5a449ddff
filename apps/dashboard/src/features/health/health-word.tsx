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
  readonly children: string;
}

/** How something stands: a shape, a colour and a word. */
export function HealthWord({ state, children }: Props) {
  const Icon = icons[state];
  return (
    <span className={classes.word} data-state={state}>
      <Icon size={18} aria-hidden />
      {children}
    </span>
  );
}
