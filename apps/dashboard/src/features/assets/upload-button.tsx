import { Button } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useRef } from "react";
import { strings } from "../../shared/strings.ts";

/** A button that lets a person choose files. */
export function UploadButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button leftSection={<IconUpload size={16} aria-hidden />} onClick={() => input.current?.click()}>
        {strings.assets.upload}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept="video/*,audio/*,.mkv,.ts,.flv"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // The same files may be chosen again.
          currentTarget.value = "";
        }}
      />
    </>
  );
}
