import { Modal } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { strings } from "../../shared/strings.ts";
import { isValid, ladderOf, wantedProfiles } from "./ladder.ts";
import { LadderEditor } from "./ladder-editor.tsx";
import { usePatchStream } from "./stream-queries.ts";

/** Changes which qualities a stream is offered in, from its next session on. */
export function LadderDialog({ stream, onClose }: { readonly stream: Stream; readonly onClose: () => void }) {
  const [ladder, setLadder] = useState(() => ladderOf(stream.profiles));
  const patch = usePatchStream(stream.id);
  return (
    <Modal opened size="lg" onClose={onClose} title={strings.streams.ladder.change(stream.name)}>
      <DialogForm
        submit={strings.actions.save}
        ready={isValid(ladder)}
        busy={patch.isPending}
        error={patch.error}
        onSubmit={() => patch.mutate({ profiles: wantedProfiles(ladder) }, { onSuccess: onClose })}
        onCancel={onClose}
        code={(weir) => weir.streams.patch(stream.id, { profiles: wantedProfiles(ladder) })}
      >
        <LadderEditor ladder={ladder} onLadder={setLadder} />
      </DialogForm>
    </Modal>
  );
}
