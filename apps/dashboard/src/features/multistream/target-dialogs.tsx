import { Modal, NativeSelect, PasswordInput, Switch, TextInput } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { strings } from "../../shared/strings.ts";
import {
  addressOf,
  EMPTY_TARGET,
  hasAddress,
  newTargetOf,
  type Platform,
  type TargetDraft,
  targetPatchOf,
  withPlatform,
} from "./target-draft.ts";
import { useTargetChanges } from "./target-queries.ts";

const text = strings.multistream;
const { form } = text;
const MAX_NAME = 500;

interface AddressProps {
  readonly server: string;
  readonly serverHint: string;
  readonly streamKey: string;
  readonly keyHint: string;
  readonly onAddress: (change: { server?: string; streamKey?: string }) => void;
}

function AddressFields({ server, serverHint, streamKey, keyHint, onAddress }: AddressProps) {
  return (
    <>
      <TextInput
        label={form.server}
        description={serverHint}
        placeholder="rtmp://live.example.com/app"
        autoComplete="off"
        value={server}
        onChange={(event) => onAddress({ server: event.currentTarget.value })}
      />
      <PasswordInput
        label={form.key}
        description={keyHint}
        autoComplete="off"
        value={streamKey}
        onChange={(event) => onAddress({ streamKey: event.currentTarget.value })}
      />
    </>
  );
}

/** For code that others may see. */
const masked = <Address extends { readonly streamKey: string }>(address: Address): Address => ({
  ...address,
  streamKey: address.streamKey && "STREAM_KEY",
});

interface Props {
  readonly stream: Stream;
  readonly onClose: () => void;
}

/** A new target of a stream. */
export function AddTargetDialog({ stream, onClose }: Props) {
  const { add } = useTargetChanges(stream.id);
  const [draft, setDraft] = useState<TargetDraft>(EMPTY_TARGET);
  const change = (changes: Partial<TargetDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const renditions = [
    { value: "source", label: text.source },
    ...stream.profiles.map(({ name }) => ({ value: name, label: name })),
  ];
  return (
    <Modal opened size="lg" onClose={onClose} title={form.addTitle}>
      <DialogForm
        submit={form.submit}
        ready={hasAddress(draft)}
        busy={add.isPending}
        error={add.error}
        onSubmit={() => add.mutate(newTargetOf(draft), { onSuccess: onClose })}
        code={(weir) => weir.streams.addTarget(stream.id, newTargetOf(masked(draft)))}
      >
        <NativeSelect
          label={form.platform}
          data={Object.entries(form.platforms).map(([value, label]) => ({ value, label }))}
          value={draft.platform}
          onChange={({ currentTarget: { value } }) => setDraft((before) => withPlatform(before, value as Platform))}
          data-autofocus
        />
        <AddressFields
          server={draft.server}
          serverHint={form.serverHints[draft.platform]}
          streamKey={draft.streamKey}
          keyHint={form.keyHint}
          onAddress={change}
        />
        <TextInput
          label={form.name}
          description={form.nameHint}
          maxLength={MAX_NAME}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
        />
        <NativeSelect
          label={form.rendition}
          data={renditions}
          value={draft.profile}
          onChange={(event) => change({ profile: event.currentTarget.value })}
        />
        <Switch
          label={form.videoOnly}
          description={form.videoOnlyHint}
          checked={draft.videoOnly}
          onChange={(event) => change({ videoOnly: event.currentTarget.checked })}
        />
        <Switch
          label={form.slate}
          description={form.slateHint}
          checked={draft.slate}
          onChange={(event) => change({ slate: event.currentTarget.checked })}
        />
      </DialogForm>
    </Modal>
  );
}

interface EditProps extends Props {
  readonly id: string;
  readonly name: string;
}

/** Name and address of a target. The present address is never shown. */
export function EditTargetDialog({ stream, id, name: before, onClose }: EditProps) {
  const { patch } = useTargetChanges(stream.id);
  const [name, setName] = useState(before);
  const [address, setAddress] = useState({ server: "", streamKey: "" });
  const isKept = addressOf(address) === "";
  return (
    <Modal opened size="lg" onClose={onClose} title={form.editTitle}>
      <DialogForm
        submit={form.save}
        ready={name.trim() !== "" && (isKept || hasAddress(address))}
        busy={patch.isPending}
        error={patch.error}
        onSubmit={() => patch.mutate({ id, ...targetPatchOf(name, address) }, { onSuccess: onClose })}
        code={(weir) => weir.targets.patch(id, targetPatchOf(name, masked(address)))}
      >
        <TextInput
          label={form.name}
          maxLength={MAX_NAME}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <AddressFields
          {...address}
          serverHint={form.keepHint}
          keyHint={form.keyHint}
          onAddress={(changes) => setAddress((now) => ({ ...now, ...changes }))}
        />
      </DialogForm>
    </Modal>
  );
}
