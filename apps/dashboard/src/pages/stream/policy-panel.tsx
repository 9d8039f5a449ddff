import { Button } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { type FormEvent, useState } from "react";
import { draftOf, policyOf, problemsOf } from "../../features/policy/policy.ts";
import { PolicyFields } from "../../features/policy/policy-fields.tsx";
import { usePatchStream } from "../../features/streams/stream-queries.ts";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { ShowAsCode } from "../../shared/components/show-as-code.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.viewers.policy;

/** The stream's playback policy, changed in place. While nothing is typed it follows what the server says. */
export function PolicyPanel({ stream }: { readonly stream: Stream }) {
  const saved = draftOf(stream.playbackPolicy);
  const [typed, setTyped] = useState<typeof saved | null>(null);
  const patch = usePatchStream(stream.id);
  const draft = typed ?? saved;
  const isChanged = typed !== null && JSON.stringify(typed) !== JSON.stringify(saved);
  const problems = problemsOf(draft);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    patch.mutate({ playbackPolicy: policyOf(draft) }, { onSuccess: () => setTyped(null) });
  };
  return (
    <Panel title={text.title}>
      <form className={page.stack} onSubmit={submit}>
        <PolicyFields draft={draft} problems={problems} onDraft={setTyped} />
        {patch.error && <Note tone="failure">{patch.error.message}</Note>}
        <p className="quiet">
          {text.live} {text.recordings}
        </p>
        <ShowAsCode call={(weir) => weir.streams.patch(stream.id, { playbackPolicy: policyOf(draft) })} />
        <div className={page.actions}>
          <Button type="submit" loading={patch.isPending} disabled={!isChanged || Object.keys(problems).length > 0}>
            {text.save}
          </Button>
          {isChanged && (
            <Button variant="default" onClick={() => setTyped(null)}>
              {text.undo}
            </Button>
          )}
          {patch.isSuccess && !isChanged && <span role="status">{text.saved}</span>}
        </div>
      </form>
    </Panel>
  );
}
