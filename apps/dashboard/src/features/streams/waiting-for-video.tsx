import { useQuery } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import { CopyButton } from "../../components/copy-button.tsx";
import { Panel } from "../../components/panel.tsx";
import { strings } from "../../strings.ts";
import { ingestQuery } from "../account/account-queries.ts";
import { TestBroadcastButton } from "./test-broadcast-button.tsx";
import classes from "./waiting-for-video.module.css";

const text = strings.streams.waiting;

/** In the player's place while the stream is idle: what is awaited, and where. */
export function WaitingForVideo({ stream }: { readonly stream: Stream }) {
  const ingest = useQuery(ingestQuery);
  return (
    <div className={classes.frame} role="status">
      <strong className={classes.title}>{stream.lastSeen === 0 ? text.titleNew : text.titleIdle}</strong>
      {ingest.data && <p>{text.body(ingest.data.ingests.rtmp)}</p>}
      <TestBroadcastButton stream={stream} />
    </div>
  );
}

/** Beside it: what would be wrong if nothing comes. */
export function SilenceCauses() {
  const ingest = useQuery(ingestQuery);
  const address = ingest.data && parsed(ingest.data.ingests.rtmp);
  if (!address) return null;
  const here = window.location.hostname;
  const isElsewhere = isLoopback(address.hostname) && !isLoopback(here);
  const probe = `nc -vz ${isElsewhere ? here : address.hostname} ${address.port}`;
  return (
    <Panel title={text.causes}>
      <dl className={classes.causes}>
        <dt>{text.port.title}</dt>
        <dd>
          {text.port.body(address.port)}
          <span className={classes.probe}>
            <code>{probe}</code>
            <CopyButton value={probe} what={text.port.title.toLowerCase()} />
          </span>
          {isElsewhere && text.loopback(here)}
        </dd>
        <dt>{text.key.title}</dt>
        <dd>{text.key.body}</dd>
        <dt>{text.firewall.title}</dt>
        <dd>{text.firewall.body(address.port)}</dd>
      </dl>
    </Panel>
  );
}

function isLoopback(host: string): boolean {
  return /^(localhost$|127\.|\[::1\])/.test(host);
}

/** By hand: browsers do not read host and port of an rtmp: address alike. */
function parsed(rtmp: string): { hostname: string; port: string } | null {
  const parts = rtmp.match(/^rtmps?:\/\/(\[[^\]]+\]|[^:/]+)(?::(\d+))?/);
  return parts?.[1] ? { hostname: parts[1], port: parts[2] ?? "1935" } : null;
}
