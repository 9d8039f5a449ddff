import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Session } from "@weir/contract";
import { RecordingPanel } from "../../features/sessions/recording-panel.tsx";
import { peakOf, SessionHistory, useSessionEvents } from "../../features/sessions/session-history.tsx";
import { sessionQuery } from "../../features/sessions/session-queries.ts";
import page from "../../shared/components/page.module.css";
import { PageOfOne } from "../../shared/components/page-of-one.tsx";
import { PanelBoundary } from "../../shared/components/panel-boundary.tsx";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { absoluteMoment } from "../../shared/lib/moments.ts";
import { strings } from "../../shared/strings.ts";

const text = strings.sessions;
const route = getRouteApi("/app/sessions/$sessionId");

export function SessionPage() {
  const { sessionId } = route.useParams();
  const session = useQuery(sessionQuery(sessionId));
  return (
    <PageOfOne query={session} gone={text.gone} all={<Link to="/sessions">{text.all}</Link>}>
      {(found) => <SessionBody session={found} />}
    </PageOfOne>
  );
}

/** One broadcast: its recording, its figures, and what happened during it. */
function SessionBody({ session }: { readonly session: Session }) {
  const range = useSessionEvents(session);
  const started = absoluteMoment(session.createdAt);
  useDocumentTitle(`${session.name}, ${started} · ${strings.app.name}`);
  return (
    <article className={page.page}>
      <header className={page.header}>
        <div className={page.title}>
          <Link to="/sessions" className={page.back}>
            {text.title}
          </Link>
          <h1>{session.name}</h1>
          <p className={page.facts}>
            {session.isActive && <StateLabel tone="live">{text.live}</StateLabel>}
            <span>{text.startedAt(started)}</span>
            <Link to="/streams/$streamId" params={{ streamId: session.parentId }}>
              {text.openStream}
            </Link>
          </p>
        </div>
      </header>
      <PanelBoundary>
        <RecordingPanel session={session} peak={peakOf(range, session)} />
      </PanelBoundary>
      <SessionHistory session={session} range={range} />
    </article>
  );
}
