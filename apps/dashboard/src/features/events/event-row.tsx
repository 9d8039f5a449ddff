import { IconAlertOctagon, IconAlertTriangle, IconInfoCircle, IconPoint } from "@tabler/icons-react";
import { memo, useState } from "react";
import { CopyButton } from "../../shared/components/copy-button.tsx";
import { absoluteMoment, clockMoment } from "../../shared/lib/moments.ts";
import { strings } from "../../shared/strings.ts";
import type { LoggedEvent } from "./event-filter.ts";
import classes from "./event-row.module.css";

const icons = { info: IconInfoCircle, warning: IconAlertTriangle, fatal: IconAlertOctagon, detail: IconPoint };

/** One line of the log; opened, the event as it came. */
export const EventRow = memo(function EventRow({ event, first, count, level, sentence }: LoggedEvent) {
  const [isOpen, setOpen] = useState(false);
  const Icon = icons[level];
  const json = isOpen ? JSON.stringify(event, null, 2) : "";
  return (
    <details className={classes.row} data-level={level} onToggle={(toggle) => setOpen(toggle.currentTarget.open)}>
      <summary className={classes.line}>
        <time dateTime={new Date(event.timestamp).toISOString()} title={absoluteMoment(event.timestamp)}>
          {clockMoment(event.timestamp, Date.now())}
        </time>
        <span className={classes.level}>
          <Icon size={16} aria-hidden />
          {strings.events.levels[level]}
        </span>
        <span className={classes.sentence}>
          {sentence}
          {count > 1 && (
            <span className="quiet">
              {" "}
              {strings.events.lines.times(count, clockMoment(first.timestamp, Date.now()))}
            </span>
          )}
        </span>
      </summary>
      {isOpen && (
        <div className={classes.json}>
          <pre>{json}</pre>
          <CopyButton value={json} what={strings.events.json} />
        </div>
      )}
    </details>
  );
});
