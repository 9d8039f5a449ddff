import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { strings } from "../strings.ts";
import { Note } from "./note.tsx";

interface Props {
  readonly children: ReactNode;
}

/** Keeps an error in one part of a page from taking the rest of the page with it. */
export class PanelBoundary extends Component<Props, { readonly error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const error = this.state.error as Error | null;
    if (error === null) return this.props.children;
    return (
      <Note tone="failure" title={strings.app.panelCrashed}>
        {error.message}{" "}
        <Button size="compact-sm" variant="default" onClick={() => this.setState({ error: null })}>
          {strings.app.crashed.retry}
        </Button>
      </Note>
    );
  }
}
