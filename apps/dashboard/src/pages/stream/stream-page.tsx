import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { TerminateButton } from "../../features/streams/stream-actions.tsx";
import { StreamFacts } from "../../features/streams/stream-facts.tsx";
import { streamQuery, useTestBroadcastOf } from "../../features/streams/stream-queries.ts";
import { SuspendedNote } from "../../features/streams/suspended-note.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { PageOfOne } from "../../shared/components/page-of-one.tsx";
import { strings } from "../../shared/strings.ts";
import { StreamLive } from "./stream-live.tsx";
import { StreamTabs } from "./stream-tabs.tsx";

const text = strings.streams;
const route = getRouteApi("/app/streams/$streamId");

export function StreamPage() {
  const { streamId } = route.useParams();
  const stream = useQuery(streamQuery(streamId));
  return (
    <PageOfOne query={stream} gone={text.gone} all={<Link to="/streams">{text.clear}</Link>}>
      {(found) => (
        <StreamLive stream={found}>
          <StreamBody stream={found} />
        </StreamLive>
      )}
    </PageOfOne>
  );
}

function StreamBody({ stream }: { readonly stream: Stream }) {
  const testBroadcast = useTestBroadcastOf(stream.id);
  useDocumentTitle(`${stream.name} · ${text.state[stream.status.state]} · ${strings.app.name}`);
  return (
    <article className={page.stack}>
      <header className={page.header}>
        <div className={page.title}>
          <Link to="/streams" className={page.back}>
            {text.title}
          </Link>
          <h1>{stream.name}</h1>
          <StreamFacts stream={stream} />
        </div>
        {stream.isActive && <TerminateButton stream={stream} />}
      </header>
      <SuspendedNote stream={stream} />
      {!stream.isActive && testBroadcast?.error && (
        <Note tone="failure" title={text.page.failed(text.guide.test)}>
          {testBroadcast.error.message}
        </Note>
      )}
      <StreamTabs stream={stream} />
    </article>
  );
}
