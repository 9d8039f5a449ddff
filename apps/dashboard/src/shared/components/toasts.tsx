import { IconCheck } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";
import classes from "./toasts.module.css";

interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 4000;
const MAX_TOASTS = 4;

let toasts: readonly Toast[] = [];
let nextId = 0;
const listeners = new Set<() => void>();

function show(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows for a few seconds that something was done. */
export function toast(text: string): void {
  const id = nextId++;
  show([...toasts, { id, text }].slice(-MAX_TOASTS));
  setTimeout(() => show(toasts.filter((it) => it.id !== id)), SHOWN_MS);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className={classes.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <p key={id} className={classes.toast}>
          <IconCheck size={16} aria-hidden />
          {text}
        </p>
      ))}
    </div>
  );
}
