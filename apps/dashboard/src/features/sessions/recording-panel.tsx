import type { Session } from "@weir/contract";
import { useState } from "react";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { reachableAddress } from "../../shared/lib/local-addresses.ts";
import { absoluteMoment } from "../../shared/lib/moments.ts";
import { strings } from "../../shared/strings.ts";
import { ClipMaker } from "../clips/clip-maker.tsx";
import { ShareButton } from "../share/share-button.tsx";
import { DownloadButton } from "./download-button.tsx";
import { NoRecording } from "./no-recording.tsx";
import { playbackIdOf } from "./recording-address.ts";
import { RecordingVideo } from "./recording-video.tsx";
import { SessionFigures } from "./session-figures.tsx";
import { useDeleteRecordings } from "./session-queries.ts";
import { hasRecording } from "./session-table.tsx";

const text = strings.sessions;

interface Props {
  readonly session: Session;
  /** The most viewers at once; null until it is known. */
  readonly peak: number | null;
}

/** The recording of a session and its actions, next to the session's figures. */
export function RecordingPanel({ session, peak }: Props) {
  const { recordingUrl, mp4Url, playbackPolicy } = session;
  const remove = useDeleteRecordings();
  const when = absoluteMoment(session.createdAt);
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  return (
    <>
      <div className={page.withFacts}>
        {recordingUrl === undefined ? (
          <NoRecording session={session} />
        ) : (
          <RecordingVideo url={recordingUrl} label={text.player(when)} onVideo={setVideo} />
        )}
        <Panel title={text.about}>
          <SessionFigures session={session} peak={peak} />
          <div className={page.actions}>
            {recordingUrl !== undefined && (
              <ShareButton
                playbackId={playbackIdOf(recordingUrl)}
                playlist={new URL(recordingUrl, window.location.href).pathname}
                isGated={(playbackPolicy?.type ?? "public") !== "public"}
              />
            )}
            {mp4Url !== undefined && <DownloadButton mp4Url={mp4Url} policy={playbackPolicy} label={text.download} />}
            {hasRecording(session) && (
              <ConfirmButton
                label={text.deleteRecording}
                ask={text.deleteAsk}
                name={text.player(when).toLowerCase()}
                change={remove}
                onConfirm={(close) =>
                  remove.mutate([session], {
                    onSuccess: () => {
                      close();
                      toast(text.deleted(text.recordings(1)));
                    },
                  })
                }
              />
            )}
          </div>
          {recordingUrl !== undefined && (
            <ValueField
              label={strings.streams.overview.playbackUrl}
              value={reachableAddress(recordingUrl, window.location)}
            />
          )}
          {recordingUrl !== undefined && <ValueField label={text.playbackId} value={playbackIdOf(recordingUrl)} />}
          <ValueField label={text.id} value={session.id} />
        </Panel>
      </div>
      {recordingUrl !== undefined && (
        <ClipMaker playbackId={playbackIdOf(recordingUrl)} sessionId={session.id} of={session.id} video={video} />
      )}
    </>
  );
}
