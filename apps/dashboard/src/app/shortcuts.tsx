import { Modal } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { Figures } from "../components/figures.tsx";
import { strings } from "../strings.ts";

const text = strings.app.shortcuts;
const CommandMenu = lazy(() => import("./command-menu.tsx"));

/** Keys that work on every page, except while somebody types into a field. `?` lists them. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const [hasMenu, setMenu] = useState(false);
  const navigate = useNavigate();
  // Also from within a field.
  useHotkeys([["mod+K", () => setMenu(true)]], []);
  useHotkeys([
    ["shift+?", () => setOpen(true), { usePhysicalKeys: false }],
    ["/", () => document.querySelector<HTMLInputElement>("main input[type=search]")?.focus()],
    ["o", () => void navigate({ to: "/" })],
    ["s", () => void navigate({ to: "/streams" })],
    ["a", () => void navigate({ to: "/assets" })],
    ["w", () => void navigate({ to: "/webhooks" })],
  ]);
  return (
    <>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={text.title}>
        <Figures figures={text.keys.map(([key, does]) => ({ name: does, value: <kbd>{key}</kbd> }))} />
      </Modal>
      {hasMenu && (
        <Suspense>
          <CommandMenu onClose={() => setMenu(false)} />
        </Suspense>
      )}
    </>
  );
}
