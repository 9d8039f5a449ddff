import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { PageLinks } from "../../components/page-links.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import classes from "./access-page.module.css";
import { ApiKeyList } from "./api-key-list.tsx";
import { apiKeysQuery } from "./api-key-queries.ts";
import { CreateApiKeyDialog } from "./create-api-key-dialog.tsx";

const text = strings.access;
const route = getRouteApi("/rooms/access");

/** Who may speak to the API. */
export function AccessPage() {
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useQuery(apiKeysQuery(cursor));
  const [creating, setCreating] = useState(false);
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <h1>{text.title}</h1>
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          {text.create}
        </Button>
      </header>
      <p className="quiet">{text.lead}</p>
      <QueryProblem error={keys.error} />
      {keys.data && <ApiKeyList keys={keys.data.items} />}
      {!keys.data && !keys.error && <p className="quiet">{strings.app.loading}</p>}
      <PageLinks
        cursor={cursor}
        nextCursor={keys.data?.nextCursor}
        onCursor={(next) => navigate({ search: next === undefined ? {} : { cursor: next } })}
      />
      {creating && <CreateApiKeyDialog onClose={() => setCreating(false)} />}
    </div>
  );
}
