import { useQuery } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import { refusedPublishesQuery } from "../../features/streams/stream-queries.ts";
import { Moment } from "../../shared/components/moment.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./refused-attempts.module.css";

const text = strings.streams.refused;
const MAX_SHOWN = 5;

/** Encoders that were refused in the last minutes, and why; nothing when there were none. */
export function RefusedAttempts({ stream }: { readonly stream: Stream }) {
  const { data = [] } = useQuery(refusedPublishesQuery(stream.id));
  if (data.length === 0) return null;
  return (
    <Panel title={text.title} hint={data.some(({ isKnownKey }) => !isKnownKey) ? text.hintUnknown : text.hint}>
      <ul className={classes.list}>
        {data.slice(0, MAX_SHOWN).map(({ timestamp, protocol, address, message }) => (
          <li key={`${timestamp} ${address}`}>
            <span className="quiet">
              <Moment at={timestamp} /> · {text.from(protocol.toUpperCase(), address)}
            </span>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
