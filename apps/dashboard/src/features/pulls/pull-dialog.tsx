import { Button, Checkbox, Modal, Textarea, TextInput } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { strings } from "../../shared/strings.ts";
import { draftOf, hasHidden, headersOf, masked, type PullDraft, pullOf, trackText } from "./pull-draft.ts";
import { usePullChanges, useTrySource } from "./pull-queries.ts";

const { form } = strings.pulls;

interface Props {
  readonly stream: Stream;
  readonly onClose: () => void;
}

/** The source of a stream, which can be tried before the stream is pulled from it. */
export function PullDialog({ stream, onClose }: Props) {
  const { set } = usePullChanges(stream.id);
  const trial = useTrySource();
  const [draft, setDraft] = useState(() => draftOf(stream.pull));
  const pull = pullOf(draft);
  const change = (changes: Partial<PullDraft>) => {
    // What was found was found at another source.
    trial.reset();
    setDraft((before) => ({ ...before, ...changes }));
  };
  return (
    <Modal opened size="lg" onClose={onClose} title={form.title}>
      <DialogForm
        submit={form.submit}
        ready={pull !== null}
        busy={set.isPending}
        error={set.error}
        onSubmit={() => pull && set.mutate(pull, { onSuccess: onClose })}
        code={pull ? (weir) => weir.streams.patch(stream.id, { pull: masked(pull) }) : undefined}
      >
        {stream.pull && hasHidden(stream.pull) && <Note tone="quiet">{form.again}</Note>}
        <TextInput
          label={form.address}
          description={form.addressHint}
          placeholder={stream.pull?.source ?? "https://camera.example.com/live/index.m3u8"}
          autoComplete="off"
          value={draft.source}
          onChange={(event) => change({ source: event.currentTarget.value })}
          data-autofocus
        />
        <Textarea
          label={form.headers}
          description={form.headersHint}
          error={headersOf(draft.headers) === null && form.badHeaders}
          autoComplete="off"
          rows={2}
          value={draft.headers}
          onChange={(event) => change({ headers: event.currentTarget.value })}
        />
        <Checkbox
          label={form.onlyWhileWatched}
          description={form.onlyWhileWatchedHint}
          checked={draft.onlyWhileWatched}
          onChange={(event) => change({ onlyWhileWatched: event.currentTarget.checked })}
        />
        <div className={page.actions}>
          <Button
            variant="default"
            disabled={pull === null}
            loading={trial.isPending}
            onClick={() => pull && trial.mutate(pull)}
          >
            {form.try}
          </Button>
        </div>
        {trial.data && trial.data.tracks.length > 0 && (
          <p role="status">
            {form.found} {trial.data.tracks.map(trackText).join("; ")}
          </p>
        )}
        {trial.data?.leftOut !== undefined && <Note tone="quiet">{trial.data.leftOut}</Note>}
        {trial.data?.problem !== undefined && <Note tone="warning">{trial.data.problem}</Note>}
        {trial.error && <Note tone="failure">{trial.error.message}</Note>}
      </DialogForm>
    </Modal>
  );
}
