import { Button, Modal } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import type { Stream } from "@weir/contract";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";
import { useCreateClip } from "./clip-queries.ts";

const text = strings.clips;
const LENGTHS = [15, 30, 60];
/** The server holds this much of a stream that is not recorded. */
const UNRECORDED_LENGTHS = [10];

/** Cuts a clip of the last seconds of a live stream, up to the picture on the screen. */
export function LiveClipButton({
  stream,
  latencySeconds,
}: {
  readonly stream: Stream;
  readonly latencySeconds: number;
}) {
  const create = useCreateClip();
  const cut = (seconds: number, close: () => void): void => {
    const endTime = Math.round(Date.now() - latencySeconds * 1000);
    create.mutate(
      { playbackId: stream.playbackId, startTime: endTime - seconds * 1000, endTime },
      {
        onSuccess: ({ asset }) => {
          close();
          toast(text.created(asset.name));
        },
      },
    );
  };
  return (
    <DialogButton
      variant="default"
      size="compact-md"
      label={text.last}
      onOpen={create.reset}
      leftSection={<IconScissors size={16} aria-hidden />}
      dialog={(close) => (
        <Modal opened onClose={close} title={text.last}>
          {create.error && <Note tone="failure">{create.error.message}</Note>}
          {!stream.record && <p className="quiet">{text.notRecorded}</p>}
          <div className={page.actions}>
            {(stream.record ? LENGTHS : UNRECORDED_LENGTHS).map((seconds) => (
              <Button key={seconds} variant="default" loading={create.isPending} onClick={() => cut(seconds, close)}>
                {text.lastSeconds(seconds)}
              </Button>
            ))}
          </div>
        </Modal>
      )}
    />
  );
}
