import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { WeirError } from "@weir/client";
import type { Session } from "@weir/contract";
import { Loading } from "../../components/loading.tsx";
import { Note } from "../../components/note.tsx";
import page from "../../components/page.module.css";
import { PanelBoundary } from "../../components/panel-boundary.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { StateLabel } from "../../components/state-label.tsx";
import { absoluteMoment } from "../../lib/moments.ts";
import { strings } from "../../strings.ts";
import { RecordingPanel } from "./recording-panel.tsx";
import { SessionHistory } from "./session-history.tsx";
import classes from "./session-page.module.css";
import { sessionQuery } from "./session-queries.ts";

const text = strings.sessions;
const route = getRouteApi("/app/sessions/$sessionId");

export function SessionPage() {
  const { sessionId } = route.useParams();
  const session = useQuery(sessionQuery(sessionId));
  if (session.data) return <SessionBody session={session.data} error={session.error} />;
  if (session.error instanceof WeirError && session.error.status === 404) {
    return (
      <Note tone="warning" title={text.gone.title}>
        {text.gone.body} <Link to="/sessions">{text.all}</Link>
      </Note>
    );
  }
  return session.error ? <QueryProblem error={session.error} /> : <Loading lines={6} />;
}

/** One broadcast: its recording, its figures, and what happened during it. */
function SessionBody({ session, error }: { readonly session: Session; readonly error: Error | null }) {
  const started = absoluteMoment(session.createdAt);
  useDocumentTitle(`${session.name}, ${started} · ${strings.app.name}`);
  return (
    <article className={page.page}>
      <header className={page.header}>
        <div className={page.title}>
          <Link to="/sessions" className={page.back}>
            {text.title}
          </Link>
          <h1>
            {session.name}, {started}
          </h1>
          <p className={classes.facts}>
            {session.isActive && <StateLabel tone="live">{text.live}</StateLabel>}
            <Link to="/streams/$streamId" params={{ streamId: session.parentId }}>
              {text.openStream}
            </Link>
          </p>
        </div>
      </header>
      <QueryProblem error={error} />
      <PanelBoundary>
        <RecordingPanel session={session} />
      </PanelBoundary>
      <SessionHistory session={session} />
    </article>
  );
}
