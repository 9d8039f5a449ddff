import { Button, Checkbox } from "@mantine/core";
import type { WebhookEventName } from "@weir/contract";
import { strings } from "../../shared/strings.ts";
import { EVENT_GROUPS, isSent, RECOMMENDED_EVENTS, withEvents } from "./webhook-draft.ts";
import classes from "./webhook-form.module.css";

const { form: text, meanings } = strings.webhooks;

interface Props {
  readonly events: readonly WebhookEventName[];
  readonly onEvents: (events: WebhookEventName[]) => void;
}

/** Ticks for all events, by group; the tick of a group is for all of it. */
export function WebhookEventChoice({ events: chosen, onEvents }: Props) {
  const unsent = chosen.filter((event) => !isSent(event));
  return (
    <fieldset className={classes.events}>
      <legend>
        {text.events} <span className="quiet">{text.eventsHint}</span>
      </legend>
      <Button
        variant="default"
        size="compact-sm"
        className={classes.recommended ?? ""}
        onClick={() => onEvents(withEvents(chosen, RECOMMENDED_EVENTS, true))}
      >
        {text.recommended}
      </Button>
      <div className={classes.groups}>
        {EVENT_GROUPS.map(([group, events]) => {
          const count = events.filter((event) => chosen.includes(event)).length;
          return (
            <div key={group} className={classes.group}>
              <Checkbox
                size="xs"
                label={<strong>{strings.webhooks.groups[group]}</strong>}
                checked={count === events.length}
                indeterminate={count > 0 && count < events.length}
                onChange={() => onEvents(withEvents(chosen, events, count < events.length))}
              />
              {events.map((event) => (
                <Checkbox
                  key={event}
                  size="xs"
                  label={meanings[event]}
                  description={<code>{event}</code>}
                  checked={chosen.includes(event)}
                  onChange={({ currentTarget }) => onEvents(withEvents(chosen, [event], currentTarget.checked))}
                />
              ))}
            </div>
          );
        })}
      </div>
      {chosen.includes("playback.accessControl") && <p>{text.gate}</p>}
      {unsent.length > 0 && <p className="quiet">{text.never(unsent.join(", "))}</p>}
    </fieldset>
  );
}
