import { Button } from "@mantine/core";
import { useSyncExternalStore } from "react";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { StateLabel, type Tone } from "../../shared/components/state-label.tsx";
import { useNow } from "../../shared/lib/now.ts";
import { bytesText, durationText, shareText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { useFreshAssets } from "./asset-queries.ts";
import classes from "./upload-list.module.css";
import { isOver, secondsLeft, type Upload, type Uploads } from "./uploads.ts";

const text = strings.assets;

/** The files of this window that are being uploaded and processed; nothing when there are none. */
export function UploadList({ uploads }: { readonly uploads: Uploads }) {
  const view = useSyncExternalStore(uploads.subscribe, uploads.view);
  useFreshAssets(view.uploads.map(({ progress }) => progress.phase).join());
  if (view.uploads.length === 0) return null;
  const isUploading = view.uploads.some(({ progress: { phase } }) => phase === "waiting" || phase === "uploading");
  return (
    <Panel title={text.uploads.title} {...(isUploading && { hint: text.uploads.hint })}>
      <ul className={classes.uploads}>
        {view.uploads.map((upload) => (
          <UploadLine key={upload.id} upload={upload} isPaused={view.isPaused} />
        ))}
      </ul>
      <div className={page.actions}>
        {isUploading && (
          <Button variant="default" onClick={() => (view.isPaused ? uploads.resume() : uploads.pause())}>
            {view.isPaused ? text.uploads.resume : text.uploads.pause}
          </Button>
        )}
        {view.uploads.some(isOver) && (
          <Button variant="default" onClick={() => uploads.clear()}>
            {text.uploads.clear}
          </Button>
        )}
      </div>
    </Panel>
  );
}

function UploadLine({ upload, isPaused }: { readonly upload: Upload; readonly isPaused: boolean }) {
  const { name, size, progress } = upload;
  const left = secondsLeft(upload, useNow(1000));
  const [tone, word] = toneAndWord(upload, isPaused);
  const share = "progress" in progress ? progress.progress : 0;
  return (
    <li className={classes.upload}>
      <span className={classes.name}>{name}</span>
      <span className={classes.facts}>
        <StateLabel tone={tone}>{word}</StateLabel>
        <span className="quiet">
          {left === null ? bytesText(size) : `${bytesText(size)}, ${text.uploads.left(durationText(left))}`}
        </span>
      </span>
      {progress.phase === "failed" ? (
        <p className={classes.error}>{progress.error.message}</p>
      ) : (
        <progress className={classes.bar} aria-label={text.uploads.of(name)} value={share} max={1} />
      )}
    </li>
  );
}

function toneAndWord(upload: Upload, isPaused: boolean): [Tone, string] {
  const { progress } = upload;
  if (progress.phase === "failed") return ["failure", text.phases.failed];
  if (isOver(upload)) return ["done", text.phases.ready];
  if (isPaused && progress.phase !== "processing") return ["held", text.uploads.paused];
  if (progress.phase === "waiting") return ["held", text.phases.waiting];
  return ["warning", text.percent(text.phases[progress.phase], shareText(progress.progress))];
}
