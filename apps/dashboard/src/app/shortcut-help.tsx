import { Modal } from "@mantine/core";
import { Figures } from "../components/figures.tsx";
import { strings } from "../strings.ts";

const text = strings.app.shortcuts;

/** The list of keyboard shortcuts. */
export default function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={text.title}>
      <Figures figures={text.keys.map(([key, does]) => ({ name: does, value: <kbd>{key}</kbd> }))} />
    </Modal>
  );
}
