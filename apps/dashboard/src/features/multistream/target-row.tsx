import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Stream, StreamHealth } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { CopyButton } from "../../shared/components/copy-button.tsx";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import page from "../../shared/components/page.module.css";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { bitrateText, durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { EditTargetDialog } from "./target-dialogs.tsx";
import { targetQuery, useTargetChanges } from "./target-queries.ts";

const text = strings.multistream;
const tones = { Idle: "quiet", Pending: "warning", Online: "live", Offline: "failure" } as const;

interface Props {
  readonly stream: Stream;
  readonly target: Stream["multistream"]["targets"][number];
  readonly health: StreamHealth | undefined;
}

/** One target of a stream: what it gets, how it is doing and why, and what can be changed of it. */
export function TargetRow({ stream, target: { id, profile, videoOnly, slate, status }, health }: Props) {
  const { data: registered } = useQuery(targetQuery(id));
  const { patch, remove } = useTargetChanges(stream.id);
  const known = health?.multistream.find(({ target }) => target.id === id && target.profile === profile);
  const name = registered?.name ?? known?.target.name ?? id;
  const isDisabled = registered?.disabled ?? false;
  const sends = [profile === "source" ? text.source : profile, videoOnly && text.videoOnly, slate && text.slate]
    .filter(Boolean)
    .join(", ");
  const figures = status.state === "Online" ? figuresOf(health, id, profile) : null;
  const reason = status.reason ?? (status.state === "Online" ? known?.reason : undefined);
  const hint = reason ?? figures ?? (isDisabled ? text.disabledHint : text.hints[status.state]);
  const toggle = isDisabled ? text.enable : text.disable;
  return (
    <>
      <div>
        <strong>{name}</strong>
        <p className="quiet">{sends}</p>
      </div>
      <div>
        <StateLabel tone={isDisabled ? "held" : tones[status.state]}>
          {isDisabled ? text.disabled : text.states[status.state]}
        </StateLabel>
        <p className="quiet">
          {hint}
          {reason !== undefined && status.since !== undefined && status.state !== "Idle" && (
            <>
              {" "}
              {text.since} <Moment at={status.since} />
            </>
          )}
        </p>
        {reason !== undefined && figures && <p className="quiet">{figures}</p>}
      </div>
      <div className={page.actions}>
        <DialogButton
          label={text.edit}
          variant="default"
          size="xs"
          aria-label={`${text.edit} ${name}`}
          dialog={(close) => <EditTargetDialog stream={stream} id={id} name={name} onClose={close} />}
        />
        <Button
          variant="default"
          size="xs"
          aria-label={`${toggle} ${name}`}
          loading={patch.isPending}
          onClick={() => patch.mutate({ id, disabled: !isDisabled })}
        >
          {toggle}
        </Button>
        <ConfirmButton
          label={text.remove}
          size="xs"
          ask={text.removeAsk}
          name={name}
          change={remove}
          onConfirm={(close) =>
            remove.mutate(
              { id, profile },
              {
                onSuccess: () => {
                  toast(text.removed);
                  close();
                },
              },
            )
          }
        />
        <CopyButton value={id} what={text.idOf(name)} label={text.copyId} />
      </div>
    </>
  );
}

/** Bitrate and uptime as they were last measured; null before the first measurement. */
function figuresOf(health: StreamHealth | undefined, id: string, profile: string): string | null {
  const last = (name: string) =>
    health?.metrics[name]?.find(({ dimensions }) => dimensions.targetId === id && dimensions.targetProfile === profile)
      ?.last[1];
  const [bitrate, uptime] = [last("MultistreamBitrateSec"), last("MultistreamActiveSec")];
  if (bitrate === undefined || uptime === undefined) return null;
  return text.online(bitrateText(bitrate), durationText(uptime));
}
