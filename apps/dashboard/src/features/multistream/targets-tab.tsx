import { IconShare } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { EmptyState } from "../../shared/components/empty-state.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";
import { healthQuery } from "../health/health-queries.ts";
import { TestBroadcastButton } from "../streams/test-broadcast-button.tsx";
import { AddTargetDialog } from "./target-dialogs.tsx";
import { TargetRow } from "./target-row.tsx";
import classes from "./targets-tab.module.css";

const text = strings.multistream;

/** The targets of a stream: added, tried out, changed and removed here, while it is live too. */
export function TargetsTab({ stream }: { readonly stream: Stream }) {
  const health = useQuery(healthQuery(stream.id));
  const { targets } = stream.multistream;
  const add = <DialogButton label={text.add} dialog={(close) => <AddTargetDialog stream={stream} onClose={close} />} />;
  return (
    <Panel title={text.title} hint={text.hint}>
      <QueryProblem error={health.error} />
      {targets.length === 0 && <EmptyState icon={<IconShare size={24} />} {...text.none} action={add} />}
      <ul>
        {targets.map((target) => (
          <li key={`${target.id} ${target.profile}`} className={classes.target}>
            <TargetRow stream={stream} target={target} health={health.data} />
          </li>
        ))}
      </ul>
      {targets.length > 0 && (
        <div className={page.actions}>
          {add}
          {!stream.isActive && <TestBroadcastButton stream={stream} variant="default" />}
        </div>
      )}
    </Panel>
  );
}
