import { IconShare } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Stream, TargetHealth } from "@weir/contract";
import { CopyButton } from "../../components/copy-button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Note } from "../../components/note.tsx";
import { Panel } from "../../components/panel.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { StateLabel } from "../../components/state-label.tsx";
import { strings } from "../../strings.ts";
import { healthQuery } from "../health/health-queries.ts";
import classes from "./targets-tab.module.css";

const text = strings.multistream;
const tones = { Idle: "quiet", Pending: "warning", Online: "live", Offline: "failure" } as const;

/** The targets of a stream, with the state of each. */
export function TargetsTab({ stream }: { readonly stream: Stream }) {
  const health = useQuery(healthQuery(stream.id));
  const { targets } = stream.multistream;
  return (
    <Panel title={text.title}>
      <QueryProblem error={health.error} />
      {targets.length === 0 && <EmptyState icon={<IconShare size={24} />} {...text.none} />}
      {targets.length > 0 && <Note tone="quiet">{text.keptOnly}</Note>}
      <ul className={classes.targets}>
        {targets.map(({ id, profile, videoOnly }) => (
          <li key={`${id} ${profile}`} className={classes.target}>
            <Target
              id={id}
              sends={[text.sends(profile), videoOnly && text.videoOnly].filter(Boolean).join(", ")}
              health={health.data?.multistream.find(({ target }) => target.id === id && target.profile === profile)}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface TargetProps {
  readonly id: string;
  readonly sends: string;
  readonly health: TargetHealth | undefined;
}

function Target({ id, sends, health }: TargetProps) {
  const state = health?.state ?? "Idle";
  return (
    <>
      <div>
        <strong>{health?.target.name ?? id}</strong>
        <p className="quiet">{sends}</p>
      </div>
      <div>
        <StateLabel tone={tones[state]}>{text.states[state]}</StateLabel>
        {health && <p className="quiet">{health.reason ?? text.hints[state]}</p>}
      </div>
      <CopyButton value={id} what={text.id} />
    </>
  );
}
