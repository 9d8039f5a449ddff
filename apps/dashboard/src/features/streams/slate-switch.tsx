import { Switch } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { Note } from "../../shared/components/note.tsx";
import { strings } from "../../shared/strings.ts";
import { usePatchStream } from "./stream-queries.ts";

const text = strings.streams.overview;

/** Whether viewers see the last picture while the broadcaster may reconnect. */
export function SlateSwitch({ stream }: { readonly stream: Stream }) {
  const patch = usePatchStream(stream.id);
  const now = (patch.isPending ? patch.variables.slate : undefined) ?? stream.slate ?? "off";
  return (
    <>
      <Switch
        label={text.slate}
        description={text.slateHint}
        checked={now !== "off"}
        onChange={(event) => patch.mutate({ slate: event.currentTarget.checked ? "last-picture" : "off" })}
      />
      {patch.error && <Note tone="failure">{patch.error.message}</Note>}
    </>
  );
}
