import { Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { strings } from "../../shared/strings.ts";
import { StreamForm } from "./stream-form.tsx";
import { useCreateStream } from "./stream-queries.ts";

/** Ends on the new stream's page, where its key and addresses are. */
export function CreateStreamDialog({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateStream();
  const navigate = useNavigate();
  return (
    <Modal opened size="lg" onClose={onClose} title={strings.streams.dialog.title}>
      <StreamForm
        busy={create.isPending}
        error={create.error}
        onSubmit={(stream) =>
          create.mutate(stream, {
            onSuccess: ({ id }) => navigate({ to: "/streams/$streamId", params: { streamId: id } }),
          })
        }
      />
    </Modal>
  );
}
