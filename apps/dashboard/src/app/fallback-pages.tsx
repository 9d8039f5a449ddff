import { Button } from "@mantine/core";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Note } from "../shared/components/note.tsx";
import { strings } from "../shared/strings.ts";
import classes from "./fallback-pages.module.css";

const text = strings.app;

export function MissingPage() {
  return (
    <div className={classes.message}>
      <h1>{text.notFound.title}</h1>
      <p>
        <Link to="/streams">{text.notFound.back}</Link>
      </p>
    </div>
  );
}

export function BrokenPage({ error, reset }: ErrorComponentProps) {
  return (
    <div className={classes.message}>
      <h1>{text.crashed.title}</h1>
      <Note tone="failure">{error instanceof Error ? error.message : String(error)}</Note>
      <Button variant="default" onClick={reset}>
        {text.crashed.retry}
      </Button>
    </div>
  );
}

/** The page before the server's first answer. It goes away when the server answers. */
export function ServerAwayPage({ error }: { readonly error: Error | null }) {
  return (
    <main className={classes.centred} aria-busy>
      <h1>{error ? text.unreachable.title : text.name}</h1>
      <p className="quiet">{error ? text.unreachable.body : text.loading}</p>
    </main>
  );
}
