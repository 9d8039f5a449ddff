import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { EffectiveSetting, ServerSettings } from "@weir/contract";
import { type ReactNode, useState } from "react";
import { Loading } from "../../components/loading.tsx";
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
  if (!data) return <Loading />;
  return (
    <>
      <Panel title={text.server(data.version)} hint={text.serverHint}>
        <Settings settings={data.settings} />
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

/** Those that were changed come first: they are what an operator looks for. */
function Settings({ settings }: { readonly settings: readonly EffectiveSetting[] }) {
  const [words, setWords] = useState("");
  const wanted = words.trim().toLowerCase();
  const found = settings
    .filter(({ variable, about }) => `${variable} ${about}`.toLowerCase().includes(wanted))
    .sort((a, b) => Number(a.isDefault) - Number(b.isDefault));
  return (
    <>
      <TextInput
        type="search"
        aria-label={text.findSetting}
        placeholder={text.findSetting}
        value={words}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
      {found.length === 0 && <p className="quiet">{text.noSetting}</p>}
      <dl className={classes.settings}>
        {found.map((setting) => (
          <Setting key={setting.variable} setting={setting} />
        ))}
      </dl>
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
