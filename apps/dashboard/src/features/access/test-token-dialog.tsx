import { Modal, PasswordInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { Note } from "../../shared/components/note.tsx";
import { strings } from "../../shared/strings.ts";
import { signTestToken } from "./test-token.ts";

const text = strings.viewers.try.testToken;

interface Props {
  readonly playbackId: string;
  readonly onToken: (token: string) => void;
  readonly onClose: () => void;
}

/** Signs a token with a private key that is pasted here. The server does not have it, and does not get it. */
export function TestTokenDialog({ playbackId, onToken, onClose }: Props) {
  const [key, setKey] = useState("");
  const signing = useMutation({
    mutationFn: async () => {
      try {
        return await signTestToken(key, playbackId);
      } catch (cause) {
        throw new Error(text.wrongKey, { cause });
      }
    },
    onSuccess: (token) => {
      onToken(token);
      onClose();
    },
    // What was typed is not kept longer than the dialog.
    gcTime: 0,
  });
  return (
    <Modal opened onClose={onClose} title={text.title}>
      {window.isSecureContext ? (
        <DialogForm
          submit={text.submit}
          ready={key.trim() !== ""}
          busy={signing.isPending}
          error={signing.error}
          onSubmit={() => signing.mutate()}
          onCancel={onClose}
        >
          <PasswordInput
            label={text.key}
            description={text.keyHint}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        </DialogForm>
      ) : (
        <Note tone="warning">{text.insecure}</Note>
      )}
    </Modal>
  );
}
