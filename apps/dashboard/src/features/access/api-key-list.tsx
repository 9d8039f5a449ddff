import { useQuery } from "@tanstack/react-query";
import type { ApiToken } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { LastMoment, Moment } from "../../shared/components/moment.tsx";
import classes from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { strings } from "../../shared/strings.ts";
import { sessionQuery } from "../account/account-queries.ts";
import { kindOf } from "./api-key-access.ts";
import { useDeleteApiKey } from "./api-key-queries.ts";
import page from "./keys.module.css";

const text = strings.access.apiKeys;

export function ApiKeyList({ keys }: { readonly keys: readonly ApiToken[] }) {
  return (
    <TableOrCards
      items={keys}
      columns={[
        { name: text.columns.name, cell: ({ name }) => <strong>{name}</strong> },
        { name: text.columns.begins, cell: (key) => <Beginning apiKey={key} /> },
        { name: text.columns.access, cell: (key) => <AccessWords apiKey={key} /> },
        { name: text.columns.created, cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { name: text.columns.lastUsed, cell: ({ lastSeen }) => <LastMoment at={lastSeen} /> },
        { name: "", className: classes.number, cell: (key) => <DeleteKeyButton apiKey={key} /> },
      ]}
      card={(key) => (
        <>
          <div className={classes.cardHead}>
            <strong>{key.name}</strong>
            <Beginning apiKey={key} />
          </div>
          <AccessWords apiKey={key} />
          <div className={classes.cardLine}>
            <span className="quiet">
              {text.columns.lastUsed}: <LastMoment at={key.lastSeen} />
            </span>
            <DeleteKeyButton apiKey={key} />
          </div>
        </>
      )}
    />
  );
}

interface Props {
  readonly apiKey: ApiToken;
}

function Beginning({ apiKey: { keyPrefix } }: Props) {
  return <code>{keyPrefix === "" ? strings.actions.none : `${keyPrefix}…`}</code>;
}

function AccessWords({ apiKey: { access } }: Props) {
  const origins = access?.cors?.allowedOrigins ?? [];
  return (
    <div>
      {text.kinds[kindOf(access)]}
      {origins.length > 0 && (
        <p className={`quiet ${page.origins}`}>
          {origins.includes("*") ? text.anyOrigin : text.fromOrigins(origins.join(", "))}
        </p>
      )}
    </div>
  );
}

/** A button that asks once. The key of the current sign-in has none: without that key the user could not come back. */
function DeleteKeyButton({ apiKey }: Props) {
  const { data: session } = useQuery(sessionQuery);
  const remove = useDeleteApiKey();
  if (session?.keyName === apiKey.name && session.keyPrefix === apiKey.keyPrefix)
    return <span className="quiet">{text.signedIn}</span>;
  return (
    <ConfirmButton
      size="compact-sm"
      label={text.delete}
      ask={text.deleteAsk}
      name={apiKey.name}
      change={remove}
      onConfirm={(close) => remove.mutate(apiKey.id, { onSuccess: close })}
    />
  );
}
