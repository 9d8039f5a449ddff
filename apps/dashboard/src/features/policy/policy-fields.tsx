import { NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { strings } from "../../shared/strings.ts";
import { accessWebhooksQuery } from "../webhooks/webhook-queries.ts";
import {
  DEFAULT_REFRESH_SECONDS,
  POLICY_TYPES,
  type PolicyDraft,
  type PolicyProblems,
  type PolicyType,
} from "./policy.ts";
import classes from "./policy-fields.module.css";

const text = strings.viewers.policy;

interface Props {
  readonly draft: PolicyDraft;
  readonly problems: PolicyProblems;
  /** The policies to choose from. */
  readonly types?: readonly PolicyType[];
  readonly onDraft: (draft: PolicyDraft) => void;
}

export function PolicyFields({ draft, problems, types = POLICY_TYPES, onDraft }: Props) {
  const { type, origins } = draft;
  return (
    <>
      <NativeSelect
        label={text.type}
        description={text.hints[type]}
        value={type}
        disabled={types.length === 1}
        data={types.map((value) => ({ value, label: text.types[value] }))}
        onChange={(event) => onDraft({ ...draft, type: event.currentTarget.value as PolicyType })}
      />
      {type === "webhook" && <WebhookFields draft={draft} problems={problems} onDraft={onDraft} />}
      <TextInput
        label={text.origins}
        description={text.originsHint}
        placeholder="https://app.example.com"
        error={problems.origin !== undefined && strings.access.wrongOrigin(problems.origin)}
        value={origins}
        onChange={(event) => onDraft({ ...draft, origins: event.currentTarget.value })}
      />
    </>
  );
}

function WebhookFields({ draft, problems, onDraft }: Props) {
  return (
    <>
      <WebhookChooser id={draft.webhookId} onId={(webhookId) => onDraft({ ...draft, webhookId })} />
      <Textarea
        label={text.context}
        description={text.contextHint}
        placeholder={'{"show": 7}'}
        error={problems.context && text.contextWrong}
        classNames={{ input: classes.context ?? "" }}
        rows={4}
        spellCheck={false}
        value={draft.context}
        onChange={(event) => onDraft({ ...draft, context: event.currentTarget.value })}
      />
      <TextInput
        label={text.refresh}
        description={text.refreshHint(DEFAULT_REFRESH_SECONDS)}
        placeholder={String(DEFAULT_REFRESH_SECONDS)}
        error={problems.refresh && text.refreshWrong}
        inputMode="numeric"
        value={draft.refresh}
        onChange={(event) => onDraft({ ...draft, refresh: event.currentTarget.value })}
      />
    </>
  );
}

/** The webhooks that can answer about viewers. The current one is listed even after it was deleted, so that the problem shows. */
function WebhookChooser({ id, onId }: { readonly id: string; readonly onId: (id: string) => void }) {
  const { data: webhooks = [], isSuccess, error } = useQuery(accessWebhooksQuery);
  if (isSuccess && webhooks.length === 0 && id === "") {
    return (
      <p>
        {text.noWebhook} <Link to="/webhooks">{text.createWebhook}</Link>
      </p>
    );
  }
  const isLost = isSuccess && id !== "" && !webhooks.some((webhook) => webhook.id === id);
  return (
    <NativeSelect
      label={text.webhook}
      description={text.webhookHint}
      error={error?.message ?? (isLost && text.lostWebhook(id))}
      value={id}
      onChange={(event) => onId(event.currentTarget.value)}
      data={[
        { value: "", label: text.choose },
        ...webhooks.map(({ id: value, name, url }) => ({ value, label: `${name} (${new URL(url).host})` })),
        ...(isLost ? [{ value: id, label: text.lostWebhook(id) }] : []),
      ]}
    />
  );
}
