import { CloseButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Note } from "../../components/note.tsx";
import { absoluteMoment } from "../../lib/moments.ts";
import { VideoPlayer } from "../../player/video-player.tsx";
import { strings } from "../../strings.ts";
import { usePreview } from "../preview/owner-preview.ts";
import classes from "./session-list.module.css";
import { sessionQuery } from "./session-queries.ts";

const text = strings.sessions;

interface Props {
  readonly sessionId: string;
  readonly onClose: () => void;
}

export function RecordingPlayer({ sessionId, onClose }: Props) {
  const { data: session, error } = useQuery(sessionQuery(sessionId));
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), []);
  const title = session && text.player(absoluteMoment(session.createdAt));
  return (
    <section ref={section} className={classes.player} aria-label={title}>
      <header className={classes.playerHead}>
        <h2>{title ?? strings.app.loading}</h2>
        <CloseButton aria-label={text.close} onClick={onClose} />
      </header>
      {error && <Note tone="failure">{error.message}</Note>}
      {session?.recordingUrl && title && <Recording url={session.recordingUrl} label={title} />}
    </section>
  );
}

/** The public address may name a host that only viewers outside can reach; its playback ID is the same here. */
function Recording({ url, label }: { readonly url: string; readonly label: string }) {
  const [, , playbackId = ""] = new URL(url, window.location.href).pathname.split("/");
  const src = usePreview(playbackId, true);
  return src && <VideoPlayer src={src} label={label} />;
}
