import type { Stream } from "@weir/contract";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Figures } from "../../shared/components/figures.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { bitrateText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { LadderDialog } from "./ladder-dialog.tsx";
import classes from "./ladder-panel.module.css";
import { type LadderLine, ladderLines } from "./renditions.ts";

const text = strings.streams.ladder;

interface Props {
  readonly stream: Stream;
  readonly isFolded?: boolean;
}

/** The qualities of a stream: what is set, and while it is live how each is doing. */
export function LadderPanel({ stream, isFolded = false }: Props) {
  const lines = ladderLines(stream);
  const leftOut = lines.filter(({ now }) => now === null).map(({ name }) => name);
  return (
    <Panel title={text.title} isFolded={isFolded}>
      <Figures
        figures={[
          { name: text.source, value: text.sourceHint },
          ...lines.filter(({ now }) => now !== null).map((line) => ({ name: line.name, value: <Line line={line} /> })),
        ]}
      />
      {leftOut.length > 0 && <p className="quiet">{text.leftOut(leftOut.join(", "))}</p>}
      <DialogButton
        variant="default"
        label={text.edit}
        disabled={stream.isActive}
        dialog={(close) => <LadderDialog stream={stream} onClose={close} />}
      />
      <p className="quiet">{stream.isActive ? text.live : text.next}</p>
    </Panel>
  );
}

const tones = { running: "live", gap: "warning", off: "quiet" } as const;

function Line({ line: { width, height, bitrate, now } }: { readonly line: LadderLine }) {
  const size = text.size(now?.width ?? width, now?.height ?? height);
  return (
    <span className={classes.line}>
      <span>{bitrate === undefined ? size : `${size} · ${bitrateText(bitrate / 8)}`}</span>
      {now && (
        <span className={classes.now}>
          {now.state === "running" && now.lagMs !== undefined && (
            <span className="quiet" title={text.lagHint}>
              {text.lag((now.lagMs / 1000).toFixed(1))}
            </span>
          )}
          <StateLabel tone={tones[now.state]}>{text.states[now.state]}</StateLabel>
        </span>
      )}
    </span>
  );
}
