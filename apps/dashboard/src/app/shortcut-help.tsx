import { Modal } from "@mantine/core";
import { Figures } from "../shared/components/figures.tsx";
import { strings } from "../shared/strings.ts";

const text = strings.app.shortcuts;

/** The list of keyboard shortcuts. */
export default function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={text.title}>
      <Figures figures={text.keys.map(([key, does]) => ({ name: does, value: <kbd>{key}</kbd> }))} />
    </Modal>
  );
}
