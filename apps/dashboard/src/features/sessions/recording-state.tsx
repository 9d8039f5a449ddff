import type { Session } from "@weir/contract";
import { StateLabel, type Tone } from "../../shared/components/state-label.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.sessions.recording;

/** The state of a session's recording, with the reason where it failed. */
export function RecordingState({ session }: { readonly session: Session }) {
  const [tone, word] = toneAndWord(session);
  return (
    <div>
      <StateLabel tone={tone}>{word}</StateLabel>
      {session.recordingError && <p className="quiet">{session.recordingError}</p>}
    </div>
  );
}

function toneAndWord({ record, recordingStatus = "none", isActive }: Session): [Tone, string] {
  if (!record) return ["quiet", text.none];
  if (recordingStatus === "failed") return ["failure", text.failed];
  if (isActive) return ["live", text.live];
  if (recordingStatus === "ready") return ["done", text.ready];
  return [recordingStatus === "waiting" ? "warning" : "quiet", text[recordingStatus]];
}
