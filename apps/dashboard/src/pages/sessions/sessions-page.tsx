import { useDocumentTitle } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { SessionList } from "../../features/sessions/session-list.tsx";
import page from "../../shared/components/page.module.css";
import { strings } from "../../shared/strings.ts";

const route = getRouteApi("/app/sessions");

/** Every session of every stream, newest first. */
export function SessionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useDocumentTitle(`${strings.sessions.title} · ${strings.app.name}`);
  return (
    <div className={page.page}>
      <h1>{strings.sessions.title}</h1>
      <SessionList search={search} onSearch={(next) => navigate({ search: next })} />
    </div>
  );
}
