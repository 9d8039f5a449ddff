import { useHotkeys } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";

const CommandMenu = lazy(() => import("./command-menu.tsx"));
const ShortcutHelp = lazy(() => import("./shortcut-help.tsx"));

/** Keys that work on every page, except while the user types into a field. `?` lists them. */
export function Shortcuts() {
  const [open, setOpen] = useState<"help" | "menu" | null>(null);
  const navigate = useNavigate();
  const close = (): void => setOpen(null);
  // This one works from within a field too.
  useHotkeys([["mod+K", () => setOpen("menu")]], []);
  useHotkeys([
    ["shift+?", () => setOpen("help"), { usePhysicalKeys: false }],
    ["/", () => document.querySelector<HTMLInputElement>("main input[type=search]")?.focus()],
    ["o", () => void navigate({ to: "/" })],
    ["s", () => void navigate({ to: "/streams" })],
    ["a", () => void navigate({ to: "/assets" })],
    ["w", () => void navigate({ to: "/webhooks" })],
  ]);
  return (
    <Suspense>
      {open === "menu" && <CommandMenu onClose={close} />}
      {open === "help" && <ShortcutHelp onClose={close} />}
    </Suspense>
  );
}
