import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { onTestFinished, vi } from "vitest";

/** Shows an element with what the dashboard gives every component, until the test is over. For tests under happy-dom. */
export async function render(element: ReactNode): Promise<void> {
  const place = document.body.appendChild(document.createElement("div"));
  const root = createRoot(place);
  onTestFinished(() => {
    root.unmount();
    place.remove();
  });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  flushSync(() =>
    root.render(
      <MantineProvider env="test" withCssVariables={false} withStaticClasses={false}>
        <QueryClientProvider client={queries}>{element}</QueryClientProvider>
      </MantineProvider>,
    ),
  );
  await rendered();
}

/** Answers the page's requests in place of a server. */
export function answerWith(answer: (path: string, method: string, body: unknown) => Response) {
  const asked = vi.fn(answer);
  vi.stubGlobal("fetch", async (address: string, { method = "GET", body }: RequestInit = {}) =>
    asked(String(address), method, typeof body === "string" ? JSON.parse(body) : undefined),
  );
  return asked;
}

/** The field of this label. */
export function field(label: string): HTMLInputElement | HTMLSelectElement {
  const labels = [...document.querySelectorAll("label")];
  const id = labels.find(({ textContent }) => textContent === label)?.htmlFor;
  const input = id === undefined ? null : document.getElementById(id);
  if (!input) throw new Error(`there is no field ${label}, but ${labels.map(({ textContent }) => textContent)}`);
  return input as HTMLInputElement | HTMLSelectElement;
}

export function button(name: string): HTMLButtonElement {
  const all = [...document.querySelectorAll("button")];
  const found = all.find((it) => (it.getAttribute("aria-label") ?? it.textContent) === name);
  if (!found) throw new Error(`there is no button ${name}, but ${all.map(({ textContent }) => textContent)}`);
  return found;
}

const PATIENCE = { timeout: 10_000, interval: 5 };

/** Types into the field of this label, or chooses from it, once it is there. */
export async function fill(label: string, value: string): Promise<void> {
  const input = await vi.waitFor(() => field(label), PATIENCE);
  // React replaces the property of the element itself, to know what it was.
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), "value")?.set?.call(input, value);
  input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
  await rendered();
}

/** Presses the button of this name, once it is there. */
export async function press(name: string): Promise<void> {
  (await vi.waitFor(() => button(name), PATIENCE)).click();
  await rendered();
}

/** Resolves when the page says this. */
export async function untilShown(text: string): Promise<void> {
  await vi.waitFor(() => {
    if (!shown().includes(text)) throw new Error(`the page does not say “${text}”, but: ${shown()}`);
  }, PATIENCE);
}

/** The page's text. */
export function shown(): string {
  return document.body.textContent;
}

/** React renders what an event changed in a task behind it. */
function rendered(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
