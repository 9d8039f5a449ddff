import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import { PageLinks } from "../../shared/components/page-links.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";
import { ApiKeyList } from "./api-key-list.tsx";
import { apiKeysQuery } from "./api-key-queries.ts";
import { ApiKeySample } from "./api-key-sample.tsx";
import { CreateApiKeyDialog } from "./create-api-key-dialog.tsx";
import classes from "./keys.module.css";

const text = strings.access.apiKeys;

interface Props {
  readonly cursor: string | undefined;
  readonly onCursor: (cursor: string | undefined) => void;
}

/** The API keys of the project, and how to use one. */
export function ApiKeysTab({ cursor, onCursor }: Props) {
  const keys = useQuery(apiKeysQuery(cursor));
  return (
    <>
      <header className={classes.header}>
        <p className="quiet">{text.lead}</p>
        <DialogButton
          label={text.create}
          leftSection={<IconPlus size={16} aria-hidden />}
          dialog={(close) => <CreateApiKeyDialog onClose={close} />}
        />
      </header>
      <QueryProblem error={keys.error} />
      {keys.data && <ApiKeyList keys={keys.data.items} />}
      {!keys.data && !keys.error && <Loading />}
      <Panel title={text.sample.title} hint={text.sample.hint}>
        <ApiKeySample />
        <p>
          <a href="/docs/reference">{text.sample.description}</a>
        </p>
      </Panel>
      <PageLinks cursor={cursor} nextCursor={keys.data?.nextCursor} onCursor={onCursor} />
    </>
  );
}
