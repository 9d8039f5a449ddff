import { useQuery } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import { ingestQuery } from "../../features/account/account-queries.ts";
import { TestBroadcastButton } from "../../features/streams/test-broadcast-button.tsx";
import { CopyButton } from "../../shared/components/copy-button.tsx";
import { NoVideo } from "../../shared/components/no-video.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./waiting-for-video.module.css";

const text = strings.streams.waiting;

/** Stands in the player's place before the first broadcast, with the address to publish to. */
export function WaitingForVideo({ stream }: { readonly stream: Stream }) {
  const ingest = useQuery(ingestQuery);
  return (
    <NoVideo title={text.titleNew}>
      {ingest.data && <p>{text.body(ingest.data.rtmp)}</p>}
      <TestBroadcastButton stream={stream} />
    </NoVideo>
  );
}

/** The usual reasons why no video arrives. */
export function SilenceCauses() {
  const ingest = useQuery(ingestQuery);
  const address = ingest.data && parsed(ingest.data.rtmp);
  if (!address) return null;
  const probe = `nc -vz ${address.hostname} ${address.port}`;
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
        </dd>
        <dt>{text.key.title}</dt>
        <dd>{text.key.body}</dd>
        <dt>{text.firewall.title}</dt>
        <dd>{text.firewall.body(address.port)}</dd>
      </dl>
    </Panel>
  );
}

/** Parses by hand, because browsers read the host and port of an rtmp: address differently. */
function parsed(rtmp: string): { hostname: string; port: string } | null {
  const parts = rtmp.match(/^rtmps?:\/\/(\[[^\]]+\]|[^:/]+)(?::(\d+))?/);
  return parts?.[1] ? { hostname: parts[1], port: parts[2] ?? "1935" } : null;
}
