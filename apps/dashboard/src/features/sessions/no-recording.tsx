import { Link } from "@tanstack/react-router";
import type { Session } from "@weir/contract";
import { NoVideo } from "../../shared/components/no-video.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.sessions.noRecording;

/** Says why a session has no recording to play, and where to go instead. */
export function NoRecording({ session }: { readonly session: Session }) {
  const { title, body, link } = text[reasonOf(session)];
  return (
    <NoVideo title={title}>
      <p className="quiet">{session.recordingError ?? body}</p>
      {link !== "" && (
        <Link to="/streams/$streamId" params={{ streamId: session.parentId }}>
          {link}
        </Link>
      )}
    </NoVideo>
  );
}

function reasonOf({ isActive, record, recordingStatus = "none" }: Session): keyof typeof text {
  if (recordingStatus === "failed" || recordingStatus === "deleted") return recordingStatus;
  if (isActive) return record ? "live" : "liveUnrecorded";
  return record && recordingStatus === "waiting" ? "waiting" : "none";
}
