import { useQuery } from "@tanstack/react-query";
import type { EffectiveSetting, ServerSettings } from "@weir/contract";
import type { ReactNode } from "react";
import { Moment } from "../../components/moment.tsx";
import { Panel } from "../../components/panel.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { StateLabel } from "../../components/state-label.tsx";
import { strings } from "../../strings.ts";
import { serverSettingsQuery } from "./account-queries.ts";
import classes from "./server-panels.module.css";

const text = strings.account.settings;

/** What the server was started with, and which processes it consists of. */
export function ServerPanels() {
  const { data, error } = useQuery(serverSettingsQuery);
  if (error && !data) return <QueryProblem error={error} />;
  if (!data) return <p className="quiet">{strings.app.loading}</p>;
  return (
    <>
      <Panel title={text.server(data.version)} hint={text.serverHint}>
        <dl className={classes.settings}>
          {data.settings.map((setting) => (
            <Setting key={setting.variable} setting={setting} />
          ))}
        </dl>
      </Panel>
      <Panel title={text.nodes} hint={text.nodesHint}>
        <ul className={classes.nodes}>
          {data.nodes.map((node) => (
            <Node key={node.id} node={node} />
          ))}
        </ul>
      </Panel>
    </>
  );
}

function Setting({ setting: { variable, about, value, isDefault } }: { readonly setting: EffectiveSetting }) {
  return (
    <div className={classes.setting}>
      <dt>
        <code>{variable}</code>
        <p className="quiet">{withCode(about)}</p>
      </dt>
      <dd data-changed={!isDefault}>
        {value === null ? (
          <span className="quiet">{text.unset}</span>
        ) : value === "[secret]" ? (
          text.secret
        ) : (
          <code>{value}</code>
        )}
        {isDefault && value !== null && <span className="quiet"> {text.isDefault}</span>}
      </dd>
    </div>
  );
}

/** The descriptions are written for documents: what stands between backticks is code. */
function withCode(about: string): ReactNode[] {
  return about.split("`").map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part));
}

const tones = { joining: "warning", serving: "live", draining: "warning", gone: "quiet" } as const;

function Node({ node }: { readonly node: ServerSettings["nodes"][number] }) {
  return (
    <li>
      <code>{node.name}</code>
      {node.isThis && <span className="quiet"> {text.thisNode}</span>}
      <div className={classes.node}>
        <StateLabel tone={tones[node.state]}>{text.nodeStates[node.state]}</StateLabel>
        <span className="quiet">
          {text.does(node.roles.join(", "), node.region)}, {text.heard} <Moment at={node.lastSeen} />
        </span>
      </div>
    </li>
  );
}
