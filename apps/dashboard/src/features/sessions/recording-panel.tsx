import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { Session } from "@weir/contract";
import { useState } from "react";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Figures } from "../../components/figures.tsx";
import { LastMoment, Moment } from "../../components/moment.tsx";
import page from "../../components/page.module.css";
import { Panel } from "../../components/panel.tsx";
import { toast } from "../../components/toasts.tsx";
import { ValueField } from "../../components/value-field.tsx";
import { reachableAddress } from "../../lib/local-addresses.ts";
import { absoluteMoment } from "../../lib/moments.ts";
import { bytesText, durationText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { ClipMaker } from "../clips/clip-maker.tsx";
import { playbackIdOf } from "./recording-address.ts";
import { RecordingState } from "./recording-state.tsx";
import { RecordingVideo } from "./recording-video.tsx";
import { useDeleteRecordings } from "./session-queries.ts";
import { hasRecording } from "./session-table.tsx";

const text = strings.sessions;

/** The recording of a session, with what can be done with it, beside the session's figures. */
export function RecordingPanel({ session }: { readonly session: Session }) {
  const { recordingUrl, mp4Url } = session;
  const remove = useDeleteRecordings();
  const when = absoluteMoment(session.createdAt);
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  return (
    <>
      <div className={page.video} data-has-video={recordingUrl !== undefined}>
        {recordingUrl !== undefined && (
          <RecordingVideo url={recordingUrl} label={text.player(when)} onVideo={setVideo} />
        )}
        <Panel title={text.about}>
          <Figures
            figures={[
              { name: text.columns.started, value: <Moment at={session.createdAt} /> },
              {
                name: strings.streams.last.ended,
                value: session.isActive ? (
                  strings.actions.none
                ) : (
                  <LastMoment at={session.endedAt ?? session.lastSeen} />
                ),
              },
              { name: text.columns.duration, value: durationText(session.sourceSegmentsDuration) },
              { name: text.columns.size, value: bytesText(session.sourceBytes) },
              { name: text.columns.recording, value: <RecordingState session={session} /> },
            ]}
          />
          {recordingUrl !== undefined && (
            <ValueField
              label={strings.streams.overview.playbackUrl}
              value={reachableAddress(recordingUrl, window.location)}
            />
          )}
          <ValueField label={text.id} value={session.id} />
          <div className={page.actions}>
            {mp4Url !== undefined && (
              <Button
                variant="default"
                component="a"
                href={reachableAddress(mp4Url, window.location)}
                leftSection={<IconDownload size={16} aria-hidden />}
              >
                {text.download}
              </Button>
            )}
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
        </Panel>
      </div>
      {recordingUrl !== undefined && (
        <ClipMaker playbackId={playbackIdOf(recordingUrl)} sessionId={session.id} of={session.id} video={video} />
      )}
    </>
  );
}
