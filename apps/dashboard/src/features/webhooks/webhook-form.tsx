import { Button, PasswordInput, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { CopyButton } from "../../components/copy-button.tsx";
import { DialogForm } from "../../components/dialog-form.tsx";
import { strings } from "../../strings.ts";
import { inventSecret, isAddress, isComplete, type WebhookDraft } from "./webhook-draft.ts";
import { WebhookEventChoice } from "./webhook-event-choice.tsx";
import classes from "./webhook-form.module.css";

const text = strings.webhooks.form;

interface Props {
  readonly initial: WebhookDraft;
  /** It has a shared secret already. */
  readonly hasSecret: boolean;
  readonly submit: string;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onSubmit: (draft: WebhookDraft) => void;
}

/** What a webhook is: where it calls, about what, and how its calls are signed. */
export function WebhookForm({ initial, hasSecret, submit, busy, error, onSubmit }: Props) {
  const [draft, setDraft] = useState(initial);
  const change = (changes: Partial<WebhookDraft>): void => setDraft({ ...draft, ...changes });
  return (
    <DialogForm submit={submit} ready={isComplete(draft)} busy={busy} error={error} onSubmit={() => onSubmit(draft)}>
      <TextInput
        label={text.name}
        placeholder={text.namePlaceholder}
        maxLength={200}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        data-autofocus
      />
      <TextInput
        label={text.url}
        description={text.urlHint}
        placeholder="https://app.example.com/weir"
        error={draft.url.trim().length > 8 && !isAddress(draft.url) && text.urlWrong}
        inputMode="url"
        maxLength={2048}
        value={draft.url}
        onChange={(event) => change({ url: event.currentTarget.value })}
      />
      <WebhookEventChoice events={draft.events} onEvents={(events) => change({ events })} />
      <Secret hasSecret={hasSecret} secret={draft.sharedSecret} onSecret={(sharedSecret) => change({ sharedSecret })} />
      <TextInput
        label={text.stream}
        description={text.streamHint}
        maxLength={100}
        value={draft.streamId}
        onChange={(event) => change({ streamId: event.currentTarget.value })}
      />
    </DialogForm>
  );
}

interface SecretProps {
  readonly hasSecret: boolean;
  readonly secret: string;
  readonly onSecret: (secret: string) => void;
}

function Secret({ hasSecret, secret, onSecret }: SecretProps): ReactNode {
  return (
    <div className={classes.secret}>
      <PasswordInput
        label={text.secret}
        description={hasSecret ? `${text.secretHint} ${text.secretKeep}` : text.secretHint}
        autoComplete="off"
        maxLength={500}
        value={secret}
        onChange={(event) => onSecret(event.currentTarget.value)}
      />
      <Button variant="default" onClick={() => onSecret(inventSecret())}>
        {text.generate}
      </Button>
      {secret !== "" && <CopyButton value={secret} what={text.secret.toLowerCase()} />}
    </div>
  );
}
