import { FileInput, NativeSelect } from "@mantine/core";
import type { Stream, StreamSlate } from "@weir/contract";
import { Note } from "../../shared/components/note.tsx";
import { strings } from "../../shared/strings.ts";
import { usePatchStream, useSlateImage } from "./stream-queries.ts";

const text = strings.streams.overview;
const CHOICES: readonly StreamSlate[] = ["off", "last-picture", "image"];

/** What viewers see while the broadcaster may reconnect. */
export function SlateSetting({ stream }: { readonly stream: Stream }) {
  const patch = usePatchStream(stream.id);
  const upload = useSlateImage(stream.id);
  const now = (patch.isPending ? patch.variables.slate : undefined) ?? stream.slate ?? "off";
  const failure = patch.error ?? upload.error;
  return (
    <>
      <NativeSelect
        label={text.slate}
        description={text.slateHint}
        data={CHOICES.map((value) => ({ value, label: text.slates[value] }))}
        value={now}
        onChange={(event) => patch.mutate({ slate: event.currentTarget.value as StreamSlate })}
      />
      {now === "image" && (
        <FileInput
          label={text.slateImage}
          description={text.slateImageHint}
          placeholder={text.slateChoose}
          accept="image/png,image/jpeg"
          value={upload.variables ?? null}
          onChange={(file) => file && upload.mutate(file)}
        />
      )}
      {upload.isSuccess && <Note tone="quiet">{text.slateSaved}</Note>}
      {failure && <Note tone="failure">{failure.message}</Note>}
    </>
  );
}
