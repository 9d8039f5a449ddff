import { Button, Menu } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import type { Stream } from "@weir/contract";
import { Note } from "../../components/note.tsx";
import { toast } from "../../components/toasts.tsx";
import { strings } from "../../strings.ts";
import { useCreateClip } from "./clip-queries.ts";

const text = strings.clips;
const LENGTHS = [15, 30, 60];

/** Cuts a clip of the last seconds of a live stream, up to the picture on the screen. */
export function LiveClipButton({
  stream,
  latencySeconds,
}: {
  readonly stream: Stream;
  readonly latencySeconds: number;
}) {
  const create = useCreateClip();
  const cut = (seconds: number): void => {
    const endTime = Math.round(Date.now() - latencySeconds * 1000);
    create.mutate(
      { playbackId: stream.playbackId, startTime: endTime - seconds * 1000, endTime },
      { onSuccess: ({ asset }) => toast(text.created(asset.name)) },
    );
  };
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button
            variant="default"
            size="compact-md"
            loading={create.isPending}
            disabled={!stream.record}
            title={stream.record ? undefined : text.notRecorded}
            leftSection={<IconScissors size={16} aria-hidden />}
          >
            {text.last}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {LENGTHS.map((seconds) => (
            <Menu.Item key={seconds} onClick={() => cut(seconds)}>
              {text.lastSeconds(seconds)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {create.error && <Note tone="failure">{create.error.message}</Note>}
    </>
  );
}
