import { Button, NativeSelect, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ClientCall } from "@weir/client/samples";
import { type ReactNode, useState } from "react";
import { CopyButton } from "../../shared/components/copy-button.tsx";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { strings } from "../../shared/strings.ts";
import { streamChoicesQuery } from "../streams/stream-queries.ts";
import { inventSecret, isAddress, isComplete, type WebhookDraft } from "./webhook-draft.ts";
import { WebhookEventChoice } from "./webhook-event-choice.tsx";
import classes from "./webhook-form.module.css";

const text = strings.webhooks.form;

interface Props {
  readonly initial: WebhookDraft;
  /** The webhook has a shared secret already. */
  readonly hasSecret: boolean;
  readonly submit: string;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onSubmit: (draft: WebhookDraft) => void;
  readonly code: (draft: WebhookDraft) => ClientCall;
}

/** The fields of a webhook: its URL, events, stream and secret. */
export function WebhookForm({ initial, hasSecret, submit, busy, error, onSubmit, code }: Props) {
  const [draft, setDraft] = useState(initial);
  const change = (changes: Partial<WebhookDraft>): void => setDraft({ ...draft, ...changes });
  return (
    <DialogForm
      {...{ submit, busy, error }}
      ready={isComplete(draft)}
      onSubmit={() => onSubmit(draft)}
      code={code({ ...draft, sharedSecret: draft.sharedSecret && "SHARED_SECRET" })}
    >
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
      <StreamChoice streamId={draft.streamId} onStream={(streamId) => change({ streamId })} />
    </DialogForm>
  );
}

interface StreamProps {
  /** Empty for all streams. */
  readonly streamId: string;
  readonly onStream: (streamId: string) => void;
}

/** The newest streams by name, and the one that is chosen whatever its age. */
function StreamChoice({ streamId, onStream }: StreamProps) {
  const { data: streams = [] } = useQuery(streamChoicesQuery);
  const isKnown = streamId === "" || streams.some(({ id }) => id === streamId);
  return (
    <NativeSelect
      label={text.stream}
      value={streamId}
      data={[
        { value: "", label: text.allStreams },
        ...streams.map(({ id, name }) => ({ value: id, label: name })),
        ...(isKnown ? [] : [{ value: streamId, label: text.otherStream(streamId) }]),
      ]}
      onChange={(event) => onStream(event.currentTarget.value)}
    />
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
        description={`${text.secretHint} ${hasSecret ? text.secretKeep : text.noSecret}`}
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
