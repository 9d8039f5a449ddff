import type { Stream } from "@weir/contract";
import { TokenSample } from "../../features/access/token-sample.tsx";
import { TryAccessPanel } from "../../features/access/try-access-panel.tsx";
import page from "../../shared/components/page.module.css";
import { PolicyPanel } from "./policy-panel.tsx";

/** The access rules of a stream, and a test of what a viewer brings. */
export function StreamAccess({ stream }: { readonly stream: Stream }) {
  const policy = stream.playbackPolicy?.type ?? "public";
  return (
    <div className={page.columns}>
      <div className={page.stack}>
        <PolicyPanel stream={stream} />
      </div>
      <div className={page.stack}>
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
