import { IconHistory } from "@tabler/icons-react";
import type { Session } from "@weir/contract";
import { Thumbnail, thumbnailOf } from "../preview/thumbnail.tsx";
import { playbackIdOf } from "./recording-address.ts";

/** A picture from the middle of a session's recording. */
export function SessionThumbnail({ session: { recordingUrl, playbackPolicy } }: { readonly session: Session }) {
  const playbackId = recordingUrl === undefined ? null : playbackIdOf(recordingUrl);
  return (
    <Thumbnail path={playbackId && thumbnailOf(playbackId)} playbackId={playbackId ?? ""} policy={playbackPolicy}>
      <IconHistory size={18} />
    </Thumbnail>
  );
}
