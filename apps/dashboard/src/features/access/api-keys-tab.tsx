import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PageLinks } from "../../components/page-links.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import classes from "./access-page.module.css";
import { ApiKeyList } from "./api-key-list.tsx";
import { apiKeysQuery } from "./api-key-queries.ts";
import { CreateApiKeyDialog } from "./create-api-key-dialog.tsx";

const text = strings.access.apiKeys;

interface Props {
  readonly cursor: string | undefined;
  readonly onCursor: (cursor: string | undefined) => void;
}

/** Who may speak to the API. */
export function ApiKeysTab({ cursor, onCursor }: Props) {
  const keys = useQuery(apiKeysQuery(cursor));
  const [creating, setCreating] = useState(false);
  return (
    <>
      <header className={classes.header}>
        <p className="quiet">{text.lead}</p>
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          {text.create}
        </Button>
      </header>
      <QueryProblem error={keys.error} />
      {keys.data && <ApiKeyList keys={keys.data.items} />}
      {!keys.data && !keys.error && <p className="quiet">{strings.app.loading}</p>}
      <PageLinks cursor={cursor} nextCursor={keys.data?.nextCursor} onCursor={onCursor} />
      {creating && <CreateApiKeyDialog onClose={() => setCreating(false)} />}
    </>
  );
}
