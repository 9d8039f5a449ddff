import type { Stream } from "@weir/contract";
import { TokenSample } from "../access/token-sample.tsx";
import { TryAccessPanel } from "../access/try-access-panel.tsx";
import { ViewersPanel } from "../views/viewers-panel.tsx";
import { PolicyPanel } from "./policy-panel.tsx";
import classes from "./stream-overview.module.css";

/** Who may watch a stream, why somebody may not, and how many do. */
export function StreamAccess({ stream }: { readonly stream: Stream }) {
  const policy = stream.playbackPolicy?.type ?? "public";
  return (
    <div className={classes.columns}>
      <div className={classes.column}>
        <PolicyPanel stream={stream} />
        <ViewersPanel playbackId={stream.playbackId} />
      </div>
      <div className={classes.column}>
        <TryAccessPanel
          key={policy}
          playbackId={stream.playbackId}
          policy={policy}
          isOnAir={stream.status.state !== "idle"}
        />
        {policy === "jwt" && <TokenSample playbackId={stream.playbackId} />}
      </div>
    </div>
  );
}
