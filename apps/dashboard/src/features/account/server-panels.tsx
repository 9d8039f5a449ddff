import { useQuery } from "@tanstack/react-query";
import type { ServerSettings } from "@weir/contract";
import { Loading } from "../../shared/components/loading.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { strings } from "../../shared/strings.ts";
import { serverSettingsQuery } from "./account-queries.ts";
import classes from "./server-panels.module.css";
import { SettingsList } from "./settings-list.tsx";

const text = strings.account.settings;

/** The processes of the server, and the settings that it runs with. */
export function ServerPanels() {
  const { data, error } = useQuery(serverSettingsQuery);
  if (error && !data) return <QueryProblem error={error} />;
  if (!data) return <Loading />;
  return (
    <>
      <Panel title={text.nodes} hint={text.nodesHint}>
        <ul className={classes.nodes}>
          {data.nodes.map((node) => (
            <Node key={node.id} node={node} />
          ))}
        </ul>
      </Panel>
      <Panel title={text.server(data.version)} hint={text.serverHint}>
        <SettingsList settings={data.settings} />
      </Panel>
    </>
  );
}

/** A name is a random id, of which this much tells a few processes apart. */
const SHORT_NAME = 8;

const tones = { joining: "warning", serving: "live", draining: "warning", gone: "quiet" } as const;

function Node({ node }: { readonly node: ServerSettings["nodes"][number] }) {
  return (
    <li>
      <strong title={node.name}>{node.isThis ? text.thisNode : text.node(node.name.slice(0, SHORT_NAME))}</strong>
      <div className={classes.node}>
        <StateLabel tone={tones[node.state]}>{text.nodeStates[node.state]}</StateLabel>
        <span className="quiet">
          {text.does(node.roles.join(", "), node.region, node.version)}, {text.heard} <Moment at={node.lastSeen} />
        </span>
      </div>
    </li>
  );
}
