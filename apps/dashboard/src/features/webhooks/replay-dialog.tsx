import { Modal, TextInput } from "@mantine/core";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { localInput, readLocalInput } from "../../shared/lib/moments.ts";
import { useNow } from "../../shared/lib/now.ts";
import { strings } from "../../shared/strings.ts";
import { useReplay } from "./webhook-queries.ts";

const text = strings.webhooks.replay;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Props {
  readonly webhookId: string;
  readonly onClose: () => void;
}

/** Sends the events of a stretch of time once more; the last hour to begin with. */
export function ReplayDialog({ webhookId, onClose }: Props) {
  const now = useNow();
  const [from, setFrom] = useState(() => localInput(now - HOUR_MS));
  const [to, setTo] = useState(() => localInput(now + MINUTE_MS));
  const replay = useReplay(webhookId);
  const range = { from: readLocalInput(from), to: readLocalInput(to) };
  const isBackwards = range.from >= range.to;
  return (
    <Modal opened onClose={onClose} title={text.title}>
      <DialogForm
        submit={text.submit}
        ready={range.from < range.to}
        busy={replay.isPending}
        error={replay.error}
        onSubmit={() => replay.mutate(range)}
        onCancel={onClose}
        code={(weir) => weir.webhooks.replay(webhookId, range)}
        cancel={strings.actions.close}
      >
        <p>
          {text.body} {text.most}
        </p>
        <TextInput
          type="datetime-local"
          label={text.from}
          value={from}
          required
          withAsterisk={false}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label={text.to}
          value={to}
          required
          withAsterisk={false}
          error={isBackwards && text.backwards}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        {replay.data && <p role="status">{replay.data.events === 0 ? text.none : text.done(replay.data.events)}</p>}
      </DialogForm>
    </Modal>
  );
}
