import { Button } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";
import { PullDialog } from "./pull-dialog.tsx";
import { usePullChanges } from "./pull-queries.ts";

const text = strings.pulls;
const tones = {
  waiting: "warning",
  connecting: "warning",
  pulling: "live",
  retrying: "failure",
  ended: "quiet",
} as const;

interface Props {
  readonly stream: Stream;
  readonly isFolded?: boolean;
}

/** The source that Weir pulls a stream from: how it goes, and what can be changed of it. */
export function PullPanel({ stream, isFolded = false }: Props) {
  const { start, stop, remove } = usePullChanges(stream.id);
  const { pull, name } = stream;
  const status = stream.status.pull;
  const isRunning = status !== undefined && status.state !== "ended";
  const error = start.error ?? stop.error;
  const dialog = (close: () => void) => <PullDialog stream={stream} onClose={close} />;
  return (
    <Panel title={text.title} hint={text.hint} isFolded={isFolded}>
      {pull && (
        <div>
          <StateLabel tone={status ? tones[status.state] : "quiet"}>
            {status ? text.states[status.state] : text.notStarted}
          </StateLabel>
          <p>
            <code>{pull.source}</code>
          </p>
          {status && (
            <p className="quiet">
              {status.reason} {text.since} <Moment at={status.since} />
            </p>
          )}
        </div>
      )}
      {error && <Note tone="failure">{error.message}</Note>}
      <div className={page.actions}>
        <DialogButton label={pull ? text.edit : text.set} variant="default" dialog={dialog} />
        {pull && (
          <>
            <Button
              variant="default"
              disabled={stream.suspended}
              loading={start.isPending}
              onClick={() => start.mutate()}
            >
              {isRunning ? text.restart : text.start}
            </Button>
            {isRunning && (
              <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
                {text.stop}
              </Button>
            )}
            <ConfirmButton
              label={text.remove}
              ask={text.removeAsk}
              name={name}
              change={remove}
              onConfirm={(close) =>
                remove.mutate(undefined, {
                  onSuccess: () => {
                    toast(text.removed);
                    close();
                  },
                })
              }
            />
          </>
        )}
      </div>
    </Panel>
  );
}
